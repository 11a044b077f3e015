package playback

import "blockyard/env"

// Scores are the scores of every seat, sampled at equal distances through a game.
type Scores struct {
	Every int     // positions from one sample to the next
	Seats [][]int // [seat][sample]
	n     int     // positions seen
}

// add adds the scores in the next position.
func (c *Scores) add(s env.State, seats int) {
	var now [env.MaxSeats]int
	for seat := range seats {
		now[seat] = s.Score(seat)
	}
	c.Note(now[:seats])
}

// Note adds the scores in the next position, one per seat.
func (c *Scores) Note(now []int) {
	if c.Seats == nil {
		c.Every, c.Seats = 1, make([][]int, len(now))
	}
	if c.n%c.Every == 0 {
		for seat := range c.Seats {
			c.Seats[seat] = append(c.Seats[seat], now[seat])
		}
	}
	c.n++
	if len(c.Seats) == 0 || len(c.Seats[0]) <= maxSamples {
		return
	}
	for seat, all := range c.Seats {
		half := all[:0]
		for k := 0; k < len(all); k += 2 {
			half = append(half, all[k])
		}
		c.Seats[seat] = half
	}
	c.Every *= 2
}
