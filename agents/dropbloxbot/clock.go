package dropbloxbot

import "time"

// Turns left at a score, as games go: about turnsAPoint a point up to about lastScore, and
// never fewer than fewest.
const (
	lastScore   = 640
	turnsAPoint = 2.1
	fewest      = 90
)

// Budget is how long a program may think about this turn with so much left of the game's
// clock: a share of it, so that it never runs out.
func Budget(score int, left time.Duration) time.Duration {
	turns := turnsAPoint * float64(lastScore-score)
	if turns < fewest {
		turns = fewest
	}
	if left < 0 {
		return 0
	}
	return time.Duration(float64(left) / turns)
}
