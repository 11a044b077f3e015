package dropbloxbot

import "time"

// Turns left at a score, as games go: about turnsAPoint a point up to about lastScore, and
// never fewer than fewest.
const (
	lastScore   = 640
	turnsAPoint = 2.1
	fewest      = 90
)

// Up to calm no game is lost, however little a program thinks, and from grave on any turn may be
// the one that decides it.
const (
	calm, grave = 350, 450
	calmCare    = 0.1
)

// care is the relative time weight of a turn at a score: 1 where the game is at stake.
func care(score int) float64 {
	switch {
	case score <= calm:
		return calmCare
	case score >= grave:
		return 1
	}
	return calmCare + (1-calmCare)*float64(score-calm)/(grave-calm)
}

// Budget is how long a program may think about this turn with so much left of the game's
// clock: a share of it, so that it never runs out.
func Budget(score int, left time.Duration) time.Duration {
	if left < 0 {
		return 0
	}
	turns := 0.0 // left in the game, each with its weight
	for s := score; s < lastScore; s++ {
		turns += turnsAPoint * care(s)
	}
	if turns < fewest {
		turns = fewest
	}
	return time.Duration(float64(left) * care(score) / turns)
}
