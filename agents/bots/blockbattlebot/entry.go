// Package blockbattlebot plays AI Block Battle (package env/blockbattle): the features of a
// position, evaluators, and the protocol of the contest. "Rules §n" in comments is section n of
// env/blockbattle/RULES.md.
package blockbattlebot

import (
	"embed"
	"io"

	"blockyard/agents/bots/entry"
	"blockyard/agents/bots/features"
	"blockyard/agents/contest"
	"blockyard/agents/mlp"
	"blockyard/agents/search"
	"blockyard/env"
	"blockyard/env/blockbattle"
)

//go:embed weights features.txt
var shipped embed.FS

// FeatureNames names the features in order. A file of weights repeats them, so that a network never reads features that
// it was not trained on.
var FeatureNames = features.Names(shipped)

// Entry is what programs offer for Block Battle. A contest bot reaches nothing of this file.
var Entry = &entry.Entry{
	Game: "blockbattle",
	Baseline: &entry.Baseline{Terms: TermNames[:], Weights: Tuned[:],
		New: func(w []float32) entry.Judge { return &Hand{Weights: Weights(w)} }},
	Learned: &entry.Learned{
		Features: features.Set{Names: FeatureNames, Own: OwnLen, New: func() features.Reader { return new(FeatureReader) }},
		Files:    shipped, File: "weights/blockbattle.safetensors",
		New: func(n *mlp.Net) (entry.Judge, error) { return NewLearned(n) },
	},
	Others:   append([]entry.Other{{Name: "terms6", New: func() entry.Judge { return Terms6{} }}}, styles...),
	Outcomes: blockbattle.Pieces,
	Guard:    func() search.Guard { return NewGuard() },
	Host:     hosted,
	Codec: func(g *env.Game, _, notes io.Writer) contest.Codec {
		dialect := ClassicDialect
		if g == blockbattle.PortGame {
			dialect = PortDialect
		}
		return NewCodec(dialect, notes)
	},
	Submission: &entry.Submission{
		Folder: "agents/submit/programs/blockbattle", MaxPly: 4, Start: entry.Lines, Replay: Replay(0),
	},
}
