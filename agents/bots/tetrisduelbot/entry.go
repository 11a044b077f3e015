// Package tetrisduelbot has the agents of the Tetris duel (package env/tetrisduel) and its contest: two evaluators for
// the searches of package search, Hand and a network over the features of FeatureReader; a bot's side of the protocol,
// Codec; and the host's, Referee. Entry lists them. "Rules §n" in comments is section n of env/tetrisduel/RULES.md.
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

//go:embed weights features.txt
var shipped embed.FS

// FeatureNames are the names of the features, in order. A file of weights has them too, so that a network never gets
// features that it was not trained on.
var FeatureNames = features.Names(shipped)

// Entry lists what this package offers. The source of a contest bot leaves this file out.
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
		Folder: "agents/submit/programs/tetrisduel", MaxPly: search.MaxPly, Start: entry.Lines,
		Replay: Replay(1, DefaultTime),
	},
}
