package afterstate

import (
	"math"

	"blockyard/agents/mlp"
	"blockyard/env"
	"blockyard/train/games"
)

const (
	spreadGames  = 24  // games whose decisions are compared
	spreadSteps  = 150 // steps of each, at most
	spreadSeed   = 0x737072656164
	spreadRandom = 0.1 // probability of a random choice
)

// Spreads returns how much the values of each net differ between the choices of one decision: the mean of their
// standard deviation, over the decisions of games that the first net plays against itself one ply deep. Nets that were
// trained in different ways have values of different scales; only these differences matter to play.
func Spreads(g *games.Game, nets []*mlp.Net) []float64 {
	var all []*Search
	for _, n := range nets {
		all = append(all, New(g, n, 1))
	}
	sums, decisions := make([]float64, len(nets)), 0.0
	s, view := g.Rules.New(g.Rules.MinSeats), g.Rules.New(g.Rules.MinSeats)
	for game := range uint64(spreadGames) {
		var random env.Rand
		random.Seed(env.Derive(spreadSeed, game))
		s.Reset(random.Next())
		for step := 0; step < spreadSteps && s.Acting() != 0; step++ {
			moves := env.NoMoves
			for left := s.Acting(); left != 0; left = left.Rest() {
				seat := left.First()
				env.View(view, s, seat, random.Next())
				for k := len(all) - 1; k >= 0; k-- { // the first is the last, whose choice counts
					all[k].Evaluate(&all[k].Root, view, seat)
					sums[k] += deviation(all[k].Root.Out[:all[k].Root.Live])
				}
				decisions++
				i := Best(all[0].Root.Worth)
				if i >= 0 && float64(random.Next()>>11)/(1<<53) < spreadRandom {
					i = all[0].Random(i, &random)
				}
				moves[seat] = all[0].Action(i)
			}
			s.Step(moves)
		}
	}
	for k := range sums {
		sums[k] /= max(1, decisions)
	}
	return sums
}

// deviation is the standard deviation of values.
func deviation(values []float32) float64 {
	n := max(1, float64(len(values)))
	sum, squares := 0.0, 0.0
	for _, v := range values {
		sum += float64(v)
		squares += float64(v) * float64(v)
	}
	return math.Sqrt(max(0, squares/n-sum/n*sum/n))
}
