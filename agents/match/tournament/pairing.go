package tournament

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"blockyard/agents/match"
)

// pairing returns n pairs of players from who that should meet next, given all results: where games tell most.
//
// Let d be the difference of two ratings, v its variance, and p the expected score of a game. The game has the
// information p(1-p) about d: most between equals, and little if its winner is known beforehand. It tells more, the
// less is known of d, and it matters more, the less certain it is which rating is higher. So a pair has the value
//
//	p(1-p) · v · exp(-d²/2v)
//
// and the pair of the highest value comes next. The variances then are those that its two games will leave, so that the
// pairs of one call differ. Among equal values, those first in who meet.
func pairing(r *match.Results, who []int, n int) (pairs [][2]int) {
	elo, covariance := r.Rate()
	for len(who) > 1 && len(pairs) < n {
		best, at, tells := -1.0, [2]int(who), 0.0
		for k, b := range who {
			for _, a := range who[:k] {
				d := elo[a].Value - elo[b].Value
				v := covariance.At(a, a) + covariance.At(b, b) - 2*covariance.At(a, b)
				w := match.Information(d)
				if value := w * v * math.Exp(-d*d/(2*v)); value > best {
					best, at, tells = value, [2]int{a, b}, 2*w
				}
			}
		}
		along := mat.NewVecDense(len(elo), nil)
		for k := range elo {
			along.SetVec(k, covariance.At(k, at[0])-covariance.At(k, at[1]))
		}
		v := along.AtVec(at[0]) - along.AtVec(at[1])
		covariance.SymRankOne(covariance, -tells/(1+tells*v), along)
		pairs = append(pairs, at)
	}
	return pairs
}
