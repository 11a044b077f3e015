package games

import (
	"math"

	"blockyard/agents/bots/blockingbot"
	"blockyard/env"
	"blockyard/env/blocking"
)

// Blocking is the game for two to four seats. One net serves all; gates are games of two.
var Blocking = tune(New(blocking.Game, blockingbot.Entry), func(t *Game) {
	t.Damage, t.Chance = scatterBlocking, chanceInBlocking
})

// chanceInBlocking is half the result and half a sigmoid of the margin: 0.96 for ten squares ahead, 0.79 for one.
func chanceInBlocking(state env.State, seat int) float32 {
	s := state.(*blocking.State)
	best := math.Inf(-1)
	for i := range int(s.Seats) {
		if i != seat {
			best = math.Max(best, float64(s.Score(i)))
		}
	}
	margin := 1 / (1 + math.Exp((best-float64(s.Score(seat)))/4))
	return float32(margin)/2 + (1+s.Result(seat))/4
}

// scatterBlocking makes two of five games ones of 3 or 4 seats, and places up to eight pieces at random.
func scatterBlocking(state env.State, r *env.Rand) {
	s := state.(*blocking.State)
	s.Seats = [...]uint8{2, 2, 2, 3, 4}[below(r, 5)]
	s.Reset(r.Next())
	var legal []env.Action
	for n := below(r, 1+below(r, 9)); n > 0; n-- {
		seat := s.Acting().First()
		legal = s.Legal(seat, legal[:0])
		next := *s
		next.Step(env.Alone(seat, legal[below(r, len(legal))]))
		if next.Acting() == 0 {
			return
		}
		*s = next
	}
}
