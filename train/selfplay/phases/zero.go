package phases

import "blockyard/train/task"

// FromZero is a run without a teacher: it begins with random weights, and the baseline evaluator neither plays, nor is
// imitated, nor is the first net. It is only the opponent in gates. What remains of human knowledge are the features.
//
// The first half of the budget learns from the results of games. The second half is a backup from that net, a stage per
// gate; in games of more than two seats, which have no backup, it is an actor-critic.
func FromZero(g *task.Game) Config {
	c := DefaultBackup()
	c.Hidden, c.Mean, c.Late, c.Gates, c.Iterations = []int{64}, 100, 0.2, 6, 1200
	c.Lambda, c.RateFrom, c.RateTo = 0.95, 1e-3, 5e-5
	c.GatePairs, c.GateElo = 100, 20
	c.Results, c.Backup = 0.5, 0.5
	switch {
	case g.Rules.MaxSeats > 2:
		c.Results, c.Backup, c.Actor, c.Late, c.Iterations = 0, 0, 0.5, 1, 3000
	case takesTurns(g): // a search of one ply further costs little, and six teach more
		c.Samples, c.Look = 8, 6
	}
	return c
}
