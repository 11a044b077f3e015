// Package dropbloxbot plays Dropblox (package env/dropblox): a beam search over the
// six blocks that are known, with a hand-tuned rating of boards or a learned one. "Rules §n"
// in comments is section n of env/dropblox/RULES.md.
package dropbloxbot

import (
	"embed"
	"errors"
	"unsafe"

	"blockyard/agents/entry"
	"blockyard/agents/features"
	"blockyard/agents/mlp"
	"blockyard/env"
	"blockyard/env/dropblox"
)

//go:embed weights
var shipped embed.FS

// Entry is what programs offer for Dropblox. A contest bot reaches nothing of this file.
var Entry = &entry.Entry{
	Game: "dropblox",
	Baseline: &entry.Baseline{Terms: TermNames[:], Weights: Classic[:],
		New: func(w []float32) entry.Judge { return &Hand{Weights: Weights(w)} }},
	Learned: &entry.Learned{
		Features: features.Set{Names: FeatureNames, Own: Len, New: func() features.Reader { return FeatureReader{} }},
		Files:    shipped, File: "weights/dropblox.safetensors",
		New:  func(n *mlp.Net) (entry.Judge, error) { return NewLearned(n) },
		Unit: "0.01 is a point: the score and the points expected until the end of the game",
	},
	Fixed: []entry.Fixed{{Name: "left", New: func() env.Agent { return Leftmost{} }}},
	Search: &entry.Search{
		Options: []entry.Option{{Name: "width", Max: MaxWidth}, {Name: "depth", Max: dropblox.Known}, entry.Time},
		New:     newAgent, Ranker: newRanker, Memory: memory,
	},
	Submission: &entry.Submission{
		Folder: "agents/submissions/dropblox", Replay: Replay("60"),
		Start: "It is started for every block, with state and seconds left as arguments, as dropblox_ai.",
	},
}

// newAgent returns a beam search whose judge is a Rater.
func newAgent(_ *env.Game, j entry.Judge, o entry.Options) (env.Agent, error) {
	width := o.Numbers["width"]
	if width > 0 && o.Time > 0 {
		return nil, errors.New("time decides the width: give one of the two")
	}
	return NewAgent(j.(Rater), width, o.Numbers["depth"]), nil
}

// memory is the most that one agent takes without its Rater. Slices grow to twice what they hold at most.
func memory(_ *env.Game, o entry.Options) int64 {
	width := o.Numbers["width"]
	switch {
	case o.Time > 0:
		width = MaxWidth
	case width == 0:
		width = Width
	}
	var k keeper
	k.start(width)
	kids := dropblox.Turns * dropblox.Cols * dropblox.Rows
	return int64(unsafe.Sizeof(Beam{})) + 8*int64(len(k.table)) +
		2*(2*int64(width)*int64(unsafe.Sizeof(Board{}))+int64(3*k.most+64)*int64(unsafe.Sizeof(choice{}))+
			int64(kids)*(int64(unsafe.Sizeof(Kid{}))+4))
}
