package phases

import (
	"blockyard/agents/bots/features"
	"blockyard/agents/search"
	"blockyard/env"
	"blockyard/env/envtest/toy"
	"blockyard/train/games"
)

// takes is a turn-based game in which what counts is how much each seat took: an
// obvious choice for anyone who learns from results, and for a net that knows no more of
// an afterstate than what was taken last, nothing but a choice.
var takes = &games.Game{
	Rules:    toy.Turns,
	Features: []string{"took 1", "took 2", "took 3", "cards"},
	Own:      3,
	Reader:   func() features.Reader { return takesReader{} },
	Hand:     func() search.Evaluator { return nil },
	Chance:   func(s env.State, seat int) float32 { return float32(s.Score(seat)) / toy.Target },
	Damage:   func(env.State, *env.Rand) {},
}

type takesReader struct{}

func (takesReader) Shared(s env.State, _ int, out []float32) {
	out[0] = float32(s.(*toy.State).Played) / toy.Length
}

func (takesReader) Own(s env.State, seat int, out []float32) {
	clear(out)
	if n := s.(*toy.State).Last[seat]; n > 0 {
		out[n-1] = 1
	}
}
