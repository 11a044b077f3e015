package selfplay

import (
	"context"
	"crypto/sha256"
	"encoding/hex"

	"blockyard/agents/mlp"
	"blockyard/env"
	"blockyard/train/games"
)

// The self-test plays selfTestSteps steps from selfTestSeed.
const (
	selfTestSteps = 24
	selfTestSeed  = 0x73656c66
)

// SelfTest plays a short rollout of the kind of ro by a fixed net and returns the SHA-256 of its result, in
// hexadecimal. Processes that return the same value evaluate, sample and move alike, to the last bit. If the settings
// name opponents, there is a rollout against each.
func SelfTest(g *games.Game, a Algorithm, ro Rollout) (string, error) {
	p, err := NewPlayer(g, a)
	if err != nil {
		return "", err
	}
	net, err := selfTestNet(append([]int{len(g.Features)}, append(a.Common().Hidden, 1)...))
	if err != nil {
		return "", err
	}
	test := Rollout{Kind: ro.Kind, Baseline: ro.Baseline, Steps: selfTestSteps, Late: .5, Versus: .5}
	opponents := a.Common().Opponents
	s := newSlot(g, a.Common().OpponentNames(), 0)
	s.Rand.Seed(selfTestSeed)
	sum := sha256.New()
	for k := range max(1, len(opponents)) {
		s.start(&test)
		if len(opponents) > 0 {
			s.Opponent = [env.MaxSeats]uint8{uint8(k + 1)}
		}
		start, err := s.Save()
		if err != nil {
			return "", err
		}
		file, _, err := p.Play(context.Background(), &Task{Rollout: test, Net: "self-test", Start: start}, net)
		if err != nil {
			return "", err
		}
		sum.Write(file)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// selfTestNet returns a net of layers of the given sizes whose weights are uniform in a range that shrinks with
// the size of the layer.
func selfTestNet(sizes []int) (*mlp.Net, error) {
	var r env.Rand
	r.Seed(selfTestSeed)
	draw := func(n, in int) []float32 {
		x := make([]float32, n)
		for k := range x {
			x[k] = (float32(r.Next()>>40)/(1<<23) - 1) / float32(in)
		}
		return x
	}
	var layers []mlp.Layer
	for k, out := range sizes[1:] {
		in := sizes[k]
		layers = append(layers, mlp.Layer{In: in, Out: out, W: draw(in*out, in), B: draw(out, 1)})
	}
	return mlp.New(layers)
}
