package tetrisduelbot

// Tuned are the weights Hand plays with: the mean of three runs of self-play tuning, two plies deep.
var Tuned = Weights{
	Lead: 1, Holes: -0.274, Covers: 0.405, RowEdges: -1.09, ColEdges: -1.16, Wells: -1.83,
	Bumps: 0.208, Open: 6.63, Heap: -0.404, Peak: -0.00844, Danger: 1.11, Clean1: 0.0465,
	Clean2: 1.38, Clean3: -0.279, Clean4: 0.00743, Calm: -0.374, Kinds: 3.22, Now: 17.2, Next: -0.803,
	Later: 1.81, Carry: 0.377,
}
