package playback

// Scores are the scores of every seat, sampled at equal distances through a game.
type Scores struct {
	Every int     // positions from one sample to the next
	Seats [][]int // [seat][sample]
	n     int     // positions seen
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
		c.Seats[seat] = everyOther(all)
	}
	c.Every *= 2
}

// everyOther keeps the elements 0, 2, 4, … of a list in its memory.
func everyOther[T any](list []T) []T {
	half := list[:0]
	for k := 0; k < len(list); k += 2 {
		half = append(half, list[k])
	}
	clear(list[len(half):])
	return half
}
