package selfplay

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/klauspost/compress/zstd"

	"blockyard/agents/mlp"
	"blockyard/env"
	"blockyard/train/games"
)

// A Task is a rollout of one slot. Its result depends on it, the settings and the net alone.
type Task struct {
	Iteration int      `json:"iteration"`
	Slot      int      `json:"slot"`
	Rollout   Rollout  `json:"rollout"`
	Net       string   `json:"net"`   // SHA-256 of the file of Rollout.Net
	Start     GameSlot `json:"start"` // where the slot stands
}

// NetFile returns a net as the file in which it travels, and the file's SHA-256 in hexadecimal.
func NetFile(n *mlp.Net) (file []byte, id string, err error) {
	var b bytes.Buffer
	err = mlp.WriteTensors(&b, n.Tensors(), nil)
	sum := sha256.Sum256(b.Bytes())
	return b.Bytes(), hex.EncodeToString(sum[:]), err
}

// ParseNet reads the file that NetFile returned. It returns an error for any other.
func ParseNet(file []byte) (*mlp.Net, error) {
	tensors, _, err := mlp.ParseTensors(file)
	if err != nil {
		return nil, err
	}
	return mlp.Assemble(tensors)
}

// A Player plays tasks of one run. It is not safe for concurrent use: every goroutine has its own.
type Player struct {
	game      *games.Game
	algorithm Algorithm
	slot      *Slot
	policies  map[string]Policy // by kind
	rollout   Rollout           // that the policy in use was started with
	net       string
}

// NewPlayer returns a Player of runs of g by an algorithm, whose settings it checks.
func NewPlayer(g *games.Game, a Algorithm) (*Player, error) {
	if err := a.Check(g); err != nil {
		return nil, fmt.Errorf("%s: %w", g.Rules.Name, err)
	}
	slot := newSlot(g, a.Common().OpponentNames(), 0)
	return &Player{game: g, algorithm: a, slot: slot, policies: map[string]Policy{}}, nil
}

// Play plays a task by its net and returns the result as a file that Decode reads. The same task gives the same bytes
// on every machine that computes alike. If ctx ends, there is no result but its error.
func (p *Player) Play(ctx context.Context, t *Task, net *mlp.Net) ([]byte, *Result, error) {
	if n := t.Rollout.Steps; n < 1 || n > 1<<20 {
		return nil, nil, fmt.Errorf("a rollout of %d steps, want 1 to %d", n, 1<<20)
	}
	ro := t.Rollout
	ro.Net, ro.record = net, false
	if net == nil || net.In() != len(p.game.Features) || net.Out() != 1 {
		return nil, nil, errors.New("the net does not fit the game")
	}
	policy, err := p.policy(&ro)
	if err != nil {
		return nil, nil, err
	}
	now := ro
	if now.Net = nil; p.rollout != now || p.net != t.Net {
		policy.Start(&ro)
		p.rollout, p.net = now, t.Net
	}
	s := p.slot
	s.Index = t.Slot
	if err := s.restore(t.Start); err != nil {
		return nil, nil, fmt.Errorf("slot %d: %w", t.Slot, err)
	}
	s.play(ctx, policy, &t.Rollout)
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	end, err := s.Save()
	if err != nil {
		return nil, nil, err
	}
	r := &Result{t.Iteration, t.Slot, end, s.Ended, s.Moves, s.visited}
	file, err := AppendResult(nil, r, s.Notes.Tensors())
	return file, r, err
}

func (p *Player) policy(ro *Rollout) (policy Policy, err error) {
	if policy = p.policies[ro.Kind]; policy != nil {
		return policy, nil
	}
	if policy, err = p.algorithm.Policy(p.game, ro); err == nil {
		p.policies[ro.Kind] = policy
	}
	return policy, err
}

// Decode reads the result of a task as a slot that has been played, and refuses what no player writes.
func (p *Player) Decode(t *Task, file []byte) (*Slot, error) {
	x, tensors, err := ReadResult(file)
	if err != nil {
		return nil, err
	}
	if x.Iteration != t.Iteration || x.Slot != t.Slot {
		return nil, fmt.Errorf("the result of iteration %d, slot %d; want iteration %d, slot %d",
			x.Iteration, x.Slot, t.Iteration, t.Slot)
	}
	steps := t.Rollout.Steps
	if x.Moves > steps*p.game.Rules.Rows || x.Ended > steps {
		return nil, fmt.Errorf("%d choices and %d ends of games in %d steps", x.Moves, x.Ended, steps)
	}
	s := newSlot(p.game, p.slot.opponents, t.Slot)
	if err := s.restore(x.End); err != nil {
		return nil, err
	}
	policy, err := p.policy(&t.Rollout)
	if err != nil {
		return nil, err
	}
	policy.Begin(s)
	if err := s.Notes.SetTensors(tensors); err != nil {
		return nil, err
	}
	s.Ended, s.Moves, s.visited = x.Ended, x.Moves, x.Visited
	return s, nil
}

// UntilGate returns how many rollouts, 1 under a budget of time, certainly come before the next gate and the end.
func (r *Run) UntilGate() int {
	if r.Options.For > 0 {
		return 1
	}
	later := Run{Options: r.Options, Counts: r.Counts}
	for n := 1; ; n++ {
		later.Counts.Iterations++
		if later.GateDue() || later.Progress() >= 1 {
			return n
		}
	}
}

// A Result is what came of a task but for the notes, which are tensors beside it.
type Result struct {
	Iteration int
	Slot      int
	End       GameSlot // where the slot stands afterwards
	Ended     int
	Moves     int
	Visited   uint64
}

const (
	resultKey  = "result" // the entry of a result's metadata that holds its fields
	mostResult = 64 << 20 // bytes of a result before it is compressed
)

// More than half of the features of a position are 0, so results are compressed. The same result gives the same bytes.
var (
	squeeze, _ = zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1))
	expand, _  = zstd.NewReader(nil, zstd.WithDecoderMaxMemory(mostResult), zstd.WithDecoderConcurrency(1))
)

// AppendResult appends a result to dst as the file that ReadResult reads: safetensors, compressed by zstd.
func AppendResult(dst []byte, r *Result, tensors []mlp.Tensor) ([]byte, error) {
	text, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := mlp.WriteTensors(&b, tensors, map[string]string{resultKey: string(text)}); err != nil {
		return nil, err
	}
	return squeeze.EncodeAll(b.Bytes(), dst), nil
}

// ReadResult reads what AppendResult wrote. It refuses a file with any defect.
func ReadResult(file []byte) (_ *Result, _ []mlp.Tensor, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("not a result: %w", err)
		}
	}()
	plain, err := expand.DecodeAll(file, nil)
	if err != nil {
		return nil, nil, err
	}
	tensors, meta, err := mlp.ParseTensors(plain)
	if err != nil {
		return nil, nil, err
	}
	r := new(Result)
	if err := json.Unmarshal([]byte(meta[resultKey]), r); err != nil {
		return nil, nil, err
	}
	if min(r.Iteration, r.Slot, r.Ended, r.Moves, r.End.Age) < 0 {
		return nil, nil, errors.New("a number is below 0")
	}
	for _, t := range tensors {
		for _, v := range t.Data {
			if v-v != 0 {
				return nil, nil, fmt.Errorf("the number %v is not finite", v)
			}
		}
	}
	return r, tensors, nil
}

// The self-test plays selfTestSteps steps from selfTestSeed.
const (
	selfTestSteps = 24
	selfTestSeed  = 0x73656c66
)

// SelfTest returns the SHA-256 of short rollouts by a fixed net, one against each opponent. Processes with the same one
// evaluate, sample and move alike.
func SelfTest(g *games.Game, a Algorithm, ro Rollout) (string, error) {
	p, err := NewPlayer(g, a)
	if err != nil {
		return "", err
	}
	net, err := selfTestNet(a.Common().Sizes(g))
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

// selfTestNet returns a net of uniform weights, smaller in larger layers.
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
