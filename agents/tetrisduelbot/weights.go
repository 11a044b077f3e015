package tetrisduelbot

// Tuned are the weights Hand plays with: found by self-play, two plies deep.
var Tuned = Weights{
	Lead:     1,
	Holes:    -0.223,
	Covers:   1.24,
	RowEdges: -2.08,
	ColEdges: -3.56,
	Wells:    -0.367,
	Bumps:    0.125,
	Open:     1.09,
	Heap:     -0.04,
	Peak:     0.111,
	Danger:   -1.28,
	Clean1:   -1.55,
	Clean2:   1.96,
	Clean3:   0.635,
	Clean4:   -0.0699,
	Calm:     -0.116,
	Kinds:    1.48,
	Now:      3.42,
	Next:     0.293,
	Later:    3.19,
	Carry:    0.51,
}
