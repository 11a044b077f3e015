// Package dropbloxbot plays Dropblox (package env/dropblox): a beam search over the
// six blocks that are known, with a hand-tuned rating of boards or a learned one. "Rules §n"
// in comments is section n of env/dropblox/RULES.md.
package dropbloxbot

import (
	"embed"
	"errors"
	"unsafe"

	"blockyard/agents/bots/entry"
	"blockyard/agents/bots/features"
	"blockyard/agents/mlp"
	"blockyard/env"
	"blockyard/env/dropblox"
)

//go:embed weights features.txt
var shipped embed.FS

// FeatureNames names the features of a board and its score, in order.
var FeatureNames = features.Names(shipped)

// Entry is what programs offer for Dropblox. A contest bot reaches nothing of this file.
var Entry = &entry.Entry{
	Game: "dropblox",
	Host: hosted,
	Baseline: &entry.Baseline{Terms: TermNames[:], Weights: Classic[:],
		New: func(w []float32) entry.Judge { return &Hand{Weights: Weights(w)} }},
	Learned: &entry.Learned{
		Features: features.Set{Names: FeatureNames, Own: Len, New: func() features.Reader { return FeatureReader{} }},
		Files:    shipped, File: "weights/dropblox.safetensors",
		New:  func(n *mlp.Net) (entry.Judge, error) { return NewLearned(n) },
		Unit: "0.01 is a point: the score and the points expected until the end of the game",
	},
	Fixed: map[string]func() env.Agent{"left": func() env.Agent { return Leftmost{} }},
	Search: &entry.Search{
		Options: []entry.Option{
			{Name: "width", Max: MaxWidth}, {Name: "depth", Max: dropblox.Known}, {Name: "futures", Max: MaxFutures}, entry.Time,
		},
		New: newAgent, Ranker: newRanker, Memory: memory,
	},
	Submission: &entry.Submission{
		Folder: "agents/submit/programs/dropblox", Replay: Replay(1, "60"),
		Start: "It is started for every block, with state and seconds left as arguments, as dropblox_ai.",
	},
}

// newAgent returns a beam search whose judge is a Rater.
func newAgent(_ *env.Game, j entry.Judge, o entry.Options) (env.Agent, error) {
	width, depth, futures := o.Numbers["width"], o.Numbers["depth"], o.Numbers["futures"]
	switch _, ends := j.(Ender); {
	case (width > 0 || futures > 0) && o.Time > 0:
		return nil, errors.New("time decides the width and the number of futures: give either time or those")
	case futures > 0 && depth > 0 && depth < dropblox.Known:
		return nil, errors.New("futures begin after all known blocks: leave out depth or futures")
	case futures > 0 && !ends:
		return nil, errors.New("futures need the values of a network: leave out futures, or use learned")
	}
	return NewAgent(j.(Rater), width, depth, futures), nil
}

// memory is the most that one agent takes without its Rater. Slices grow to twice what they hold at most.
func memory(_ *env.Game, o entry.Options) int64 {
	width, futures := o.Numbers["width"], o.Numbers["futures"]
	switch {
	case o.Time > 0:
		width, futures = MaxWidth, MaxFutures
	case width == 0:
		width = Width
	}
	if futures == 0 {
		return beamMemory(width)
	}
	return beamMemory(width) + beamMemory(narrow) + int64(unsafe.Sizeof(lookahead{})) +
		2*rivals*(int64(futures)*4+starts*int64(unsafe.Sizeof(Board{})))
}

func beamMemory(width int) int64 {
	var k keeper
	k.start(width)
	kids := dropblox.Turns * dropblox.Cols * dropblox.Rows
	return int64(unsafe.Sizeof(Beam{})) + 8*int64(len(k.table)) +
		2*(2*int64(width)*int64(unsafe.Sizeof(Board{}))+int64(3*k.most+64)*int64(unsafe.Sizeof(choice{}))+
			int64(kids)*(int64(unsafe.Sizeof(Kid{}))+4))
}
