// Package tetrisduelbot plays the Tetris duel (package env/tetrisduel): the features of a
// position, a hand-tuned and a learned evaluator, and the protocol of the contest. "Rules §n" in
// comments is section n of env/tetrisduel/RULES.md.
package tetrisduelbot

import (
	"embed"
	"io"

	"blockyard/agents/bots/entry"
	"blockyard/agents/bots/features"
	"blockyard/agents/contest"
	"blockyard/agents/mlp"
	"blockyard/agents/search"
	"blockyard/env"
)

//go:embed weights
var shipped embed.FS

//go:embed features.txt
var featureNames string

// FeatureNames names the features in order. A file of weights repeats them, so that a network never reads features that
// it was not trained on.
var FeatureNames = features.Names(featureNames)

// Entry is what programs offer for the Tetris duel. A contest bot reaches nothing of this file.
var Entry = &entry.Entry{
	Game: "tetrisduel",
	Baseline: &entry.Baseline{Terms: TermNames[:], Weights: Tuned[:],
		New: func(w []float32) entry.Judge { return &Hand{Weights: Weights(w)} }},
	Learned: &entry.Learned{
		Features: features.Set{Names: FeatureNames, Own: OwnLen, New: func() features.Reader { return new(FeatureReader) }},
		Files:    shipped, File: "weights/tetrisduel.safetensors",
		New: func(n *mlp.Net) (entry.Judge, error) { return NewLearned(n) },
	},
	Host:  hosted,
	Codec: func(_ *env.Game, out, _ io.Writer) contest.Codec { return NewCodec(out) },
	Submission: &entry.Submission{
		Folder: "agents/submit/programs/tetrisduel", MaxPly: search.MaxPly, Start: entry.Lines, Replay: Replay(DefaultTime),
	},
}
