package blockbattlebot

// Tuned are the weights Hand plays with: found by pairs of games against themselves with
// all weights moved a little (SPSA), two plies deep.
var Tuned = Weights{
	Holes:     -0.0292,
	Covers:    -2.75,
	HoleRows:  -20.0,
	Overhangs: 11.9,
	RowEdges:  -4.71,
	ColEdges:  -22.5,
	Wells:     -1.95,
	Bumps:     -1.07,
	Cells:     4.58,
	Peak:      0.145,
	Spawn:     -4.96,
	GapOpen:   0.538,
	GapClosed: -0.637,
	Ready:     6.6,
	Quad:      -18.0,
	Slots:     0.0703,
	Singles:   -6.32,
	Doubles:   110.0,
	Notches:   -1.84,
	Halves:    9.87,
	Points:    15.1,
	Sent:      8.81,
	Combo:     6.1,
	Skips:     11.6,
	Pressed:   0.837,
	Buried:    9.63,
	Exposed:   -8.38,
}
