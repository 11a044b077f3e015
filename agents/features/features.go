// Package features describes positions to value networks. A game lists its features by name
// and supplies a Reader that computes them; Learned evaluates positions by a network over them.
// Contest bots contain this package, so it uses the language of Go 1.17 only.
package features

import "blockyard/env"

// A Set is the features of one game.
type Set struct {
	Names []string // in order, as a file of weights repeats them
	// Own is how many of them differ between the afterstates of one decision. They come
	// first; the others are the same in all of these afterstates.
	Own int
	// New returns a reader for one goroutine.
	New func() Reader
}

// A Reader computes the features of the afterstates of one decision: of the positions right
// after each legal choice of one seat, none of them a finished game.
type Reader interface {
	// Shared writes the features that are the same in all afterstates of the decision, given
	// any one of them, and prepares the reader for Own.
	Shared(s env.State, seat int, out []float32)
	// Own writes the features that differ, for one afterstate.
	Own(s env.State, seat int, out []float32)
}

// Row writes all features of one afterstate to out, of length len(f.Names).
func (f *Set) Row(r Reader, s env.State, seat int, out []float32) {
	r.Shared(s, seat, out[f.Own:])
	r.Own(s, seat, out[:f.Own])
}
