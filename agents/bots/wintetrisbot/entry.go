// Package wintetrisbot plays WinTetris: the demo solver of the rules (package env/wintetris) with
// its hand-tuned rating or a trained net in the rating's place. All share the move generator, the
// placer and the split of the work over ticks. "Rules §n" in comments is section n of env/wintetris/RULES.md.
package wintetrisbot

import (
	"embed"
	"fmt"
	"unsafe"

	"blockyard/agents/bots/entry"
	"blockyard/agents/bots/features"
	"blockyard/agents/mlp"
	"blockyard/env"
	"blockyard/env/wintetris"
)

//go:embed weights features.txt
var shipped embed.FS

// FeatureNames names them in order. All are of the settled cells alone, after a placement and the rows it completed.
var FeatureNames = features.Names(shipped)

// Entry is what programs offer for WinTetris.
var Entry = &entry.Entry{
	Game: "wintetris",
	Baseline: &entry.Baseline{Terms: TermNames[:], Weights: Demo[:],
		New: func(w []float32) entry.Judge { return NewHand(Weights(w)) }},
	Learned: &entry.Learned{
		Features: features.Set{Names: FeatureNames, Own: Len, New: func() features.Reader { return FeatureReader{} }},
		Except:   []string{wintetris.TickGame.Name}, // its actions are keys
		Files:    shipped, File: "weights/wintetris.safetensors",
		New:  func(n *mlp.Net) (entry.Judge, error) { return NewLearned(n) },
		Unit: "0.1 is a completed row; a row counts 3 % less for every piece that it is later",
	},
	Search: &entry.Search{
		Options:  []entry.Option{{Name: "parts", Max: MaxParts}},
		New:      newAgent,
		Ranker:   newRanker,
		Stateful: true, // a solver follows one piece over many ticks
		Memory:   func(*env.Game, entry.Options) int64 { return int64(unsafe.Sizeof(Solver{}) + unsafe.Sizeof(Agent{})) },
	},
	Submission: &entry.Submission{Build: "its contest loads a shared library: " +
		"go build -buildmode=c-shared -o libwintetris_solver.so ./agents/submit/wintetris"},
}

// newAgent returns a solver whose judge is a Rater.
func newAgent(g *env.Game, j entry.Judge, o entry.Options) (env.Agent, error) {
	parts := o.Numbers["parts"]
	switch {
	case parts == 0:
		parts = wintetris.Parts
	case g != wintetris.TickGame:
		return nil, fmt.Errorf("option parts: %s has the rules' own number; only %s leaves it to the agent",
			g.Name, wintetris.TickGame.Name)
	}
	return NewAgent(NewSolver(j.(Rater), parts)), nil
}
