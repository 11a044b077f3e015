package bots

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/bots/dropbloxbot"
	"blockyard/agents/bots/entry"
	"blockyard/agents/bots/wintetrisbot"
	"blockyard/agents/search"
	"blockyard/env"
	"blockyard/env/envtest"
	"blockyard/env/games"
	"blockyard/env/wintetris"
)

// mostAfter is the most evaluations that a search makes after its context has ended.
const mostAfter = 2000

// A meter counts evaluations and cancels a context at one of them.
type meter struct {
	search.Evaluator
	blocks  dropbloxbot.Rater
	pieces  wintetrisbot.Rater
	made    int
	at      int // the evaluation that cancels; below 0 for none
	after   int // evaluations of calls after the one that has cancelled
	cancel  context.CancelFunc
	scratch [wintetris.MaxMoves]wintetris.Block
}

func (m *meter) count(n int) {
	if m.at >= 0 && m.made >= m.at {
		m.after += n
	}
	m.made += n
	if m.at >= 0 && m.made >= m.at {
		m.cancel()
	}
}

// Evaluate implements search.Evaluator.
func (m *meter) Evaluate(states []env.State, seat int, out []float32) {
	m.count(len(states))
	m.Evaluator.Evaluate(states, seat, out)
}

// A leafMeter is a meter as a search.LeafEvaluator.
type leafMeter struct {
	*meter
	leaves search.LeafEvaluator
}

// EvaluateLeaves implements search.LeafEvaluator.
func (m leafMeter) EvaluateLeaves(
	s env.State, seat int, legal []env.Action, out []float32, rest []int,
) []int {
	m.count(len(legal))
	return m.leaves.EvaluateLeaves(s, seat, legal, out, rest)
}

// A blockMeter is a meter as a dropbloxbot.Rater.
type blockMeter struct{ *meter }

// Rate implements dropbloxbot.Rater.
func (m blockMeter) Rate(from *dropbloxbot.Board, kids []dropbloxbot.Kid, left int, worth []float32) {
	m.count(len(kids))
	m.blocks.Rate(from, kids, left, worth)
}

// A pieceMeter is a meter as a wintetrisbot.Rater.
type pieceMeter struct{ *meter }

// Rate implements wintetrisbot.Rater. Every placement of the next piece counts, or of this one if no next is known.
func (m pieceMeter) Rate(f *wintetris.Field, moves []wintetris.Block, next uint8, out []float64) {
	n := 0
	for _, move := range moves {
		if next == wintetris.Kinds {
			n++
			continue
		}
		g := *f
		g.Put(move)
		if at := wintetris.Spawn(next); g.Fits(at) {
			n += len(g.Distinct(at, m.scratch[:0]))
		}
	}
	m.count(n)
	m.pieces.Rate(f, moves, next, out)
}

// judge returns the judge j through m.
func (m *meter) judge(j entry.Evaluator) entry.Evaluator {
	switch j := j.(type) {
	case dropbloxbot.Rater:
		m.blocks = j
		return blockMeter{m}
	case wintetrisbot.Rater:
		m.pieces = j
		return pieceMeter{m}
	}
	m.Evaluator = j.(search.Evaluator)
	if leaves, ok := j.(search.LeafEvaluator); ok {
		return leafMeter{m, leaves}
	}
	return m
}

// TestSearchesStop: a search whose context ends makes at most mostAfter evaluations more, whenever that is, and
// answers with a legal action.
func TestSearchesStop(t *testing.T) {
	stopped := 0 // searches that would have gone on
	widest := []string{"", "width=10000", "width=3,depth=6", "parts=1"}
	for ply := 1; ply <= search.MaxPly; ply++ {
		widest = append(widest, fmt.Sprintf("ply=%d,width=10000", ply))
	}
	for _, g := range games.All {
		for _, spec := range searches(g, widest...) {
			if name, _, _ := strings.Cut(spec, ":"); name != "hand" && name != "learned" {
				continue // the same searches
			}
			t.Run(g.Name+"/"+spec, func(t *testing.T) {
				for _, at := range []int{0, 1, 300, envtest.Many(4000, 20_000)} {
					m, a := metered(t, g, spec)
					ctx, cancel := context.WithCancel(t.Context())
					m.at, m.cancel = at, cancel
					if at == 0 {
						cancel()
					}
					list := situations(t, g, g.MinSeats, 3, 6)
					s := list[len(list)-1]
					seat := s.Acting().First()
					legal := append(s.Legal(seat, nil), env.None)
					got, err := a.Act(ctx, s, seat)
					cancel()
					require.NoError(t, err)
					require.Contains(t, legal, got)
					require.LessOrEqual(t, m.after, mostAfter, "cancelled at evaluation %d of %d", at, m.made)
					if at > 0 && m.made >= at {
						stopped++
					}
				}
			})
		}
	}
	require.Greater(t, stopped, 50)
}

// metered returns an agent of the spec and what counts its evaluations.
func metered(t *testing.T, g *env.Game, spec string) (*meter, env.Agent) {
	read := parsed(t, g, Own(spec))
	m := &meter{at: -1}
	judge := func() (entry.Evaluator, error) {
		j, err := read.evaluators.create()
		return m.judge(j), err
	}
	f := envtest.Must(searcher(g, searchOf(Of(g)), judge, read.options))
	return m, envtest.Must(f(1))
}
