package tetrisduelbot

// Tuned are the weights Hand plays with: found by self-play, two plies deep.
var Tuned = Weights{
	Lead:     1,
	Holes:    -0.6,
	Covers:   0.306,
	RowEdges: -1.13,
	ColEdges: -0.792,
	Wells:    -1.07,
	Bumps:    0.125,
	Open:     4.55,
	Heap:     -0.209,
	Peak:     0.000214,
	Danger:   0.9,
	Clean1:   -0.119,
	Clean2:   4.78,
	Clean3:   -0.378,
	Clean4:   0.0352,
	Calm:     -0.263,
	Kinds:    2.83,
	Now:      10.7,
	Next:     -0.506,
	Later:    2.35,
	Carry:    0.614,
}
