package blockbattlebot

// Tuned are the weights Hand plays with: the mean of several runs of self-play tuning,
// two plies deep, from different starts.
var Tuned = Weights{
	Holes: -3.05, Covers: -0.833, HoleRows: -29.3, Overhangs: 10.9, RowEdges: -3.85, ColEdges: -10.6,
	Wells: -2.98, Bumps: 0.225, Cells: 3.26, Peak: -0.711, Spawn: -5.55, GapOpen: 8.63,
	GapClosed: -1.61, Ready: 0.0365, Quad: 11.2, Slots: 1.81, Singles: 14.6, Doubles: 77.4,
	Notches: -1.53, Halves: 7.42, Points: 5.94, Sent: 27.8, Combo: 6.78, Skips: 9.1, Pressed: 2.09,
	Buried: 21.5, Exposed: -2.6,
}
