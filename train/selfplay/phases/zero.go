package phases

import "blockyard/train/games"

// FromZero is a run without a teacher: it begins with random weights, and the baseline evaluator neither plays, nor is
// imitated, nor is the first net. It is only the opponent in gates. What remains of human knowledge are the features.
//
// The first part of the budget learns from the results of games. The rest is a backup from that net, a stage per gate.
// Where single choices hardly differ, as in games of seats that act at once, the errors of one net matter most: there
// the results train an ensemble, and an actor has the last part: its net learns nothing but which choice is better.
// Games of more than two seats have no backup, and learn from results alone: their many legal actions make
// decisions expensive, so there are fewer of them, and more steps of the optimiser for each.
func FromZero(g *games.Game) Config {
	c := DefaultBackup()
	c.Hidden, c.Mean, c.Late, c.Gates, c.Iterations = []int{64}, 100, 0.2, 6, 1200
	c.Lambda, c.RateFrom, c.RateTo = 0.95, 1e-3, 5e-5
	c.GatePairs, c.GateElo = 100, 20
	switch {
	case g.Rules.MaxSeats > 2:
		c.Results, c.Backup, c.Late, c.Iterations = 0, 0, 1, 500
		c.Rounds, c.Batch, c.Mean, c.GatePly = 32, 64, 15, 1
	case takesTurns(g): // a search of one ply further costs little, and six teach more; a third for results is enough
		c.Results, c.Backup, c.Samples, c.Look = 2./6, 4./6, 8, 6
	default: // values from results are log odds; among them, the choices of one decision hardly differ
		c.Results, c.Backup, c.Actor, c.Gates, c.Iterations = 6./9, 1./9, 2./9, 9, 3600
		c.Ensemble, c.Deep, c.Samples, c.LogOdds, c.WithinDecision = 3, 0.25, 8, true, true
		c.ActorFrom, c.ActorTo = 3e-4, 3e-5
	}
	return c
}
