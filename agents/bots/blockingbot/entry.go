package blockingbot

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

// FeatureNames names the features in order. A file of weights repeats them, so that a network never reads features that
// it was not trained on.
var FeatureNames = features.Names(shipped)

// Entry is what programs offer for Blocking. A contest bot reaches nothing of this file.
var Entry = &entry.Entry{
	Game: "blocking",
	Baseline: &entry.Baseline{Terms: TermNames[:], Weights: Tuned[:],
		New: func(w []float32) entry.Judge { return &Hand{Weights: Weights(w)} }},
	Learned: &entry.Learned{
		Features: features.Set{Names: FeatureNames, Own: OwnLen, New: func() features.Reader { return new(FeatureReader) }},
		Files:    shipped, File: "weights/blocking.safetensors",
		New: func(n *mlp.Net) (entry.Judge, error) { return NewLearned(n) },
	},
	Others: []entry.Other{{Name: "greedy", New: func() entry.Judge { return &Greedy{} }}},
	Host:   hosted,
	Codec:  func(_ *env.Game, _, notes io.Writer) contest.Codec { return &Codec{Notes: notes} },
	Submission: &entry.Submission{
		Folder: "agents/submit/programs/blocking", MaxPly: search.MaxPly, Start: entry.Lines, Replay: Replay(20, ReplaySlack),
	},
}
