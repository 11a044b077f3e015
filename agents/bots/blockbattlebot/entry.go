// Package blockbattlebot plays AI Block Battle (package env/blockbattle): the features of a position, evaluators, and
// the protocol of the contest. "Rules §n" in comments is section n of env/blockbattle/RULES.md.
package blockbattlebot

import (
	"cmp"
	"embed"
	"fmt"
	"io"
	"slices"

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

// FeatureNames are the names of the features in order. A file of weights repeats them, so that a network never reads
// features that it was not trained on.
var FeatureNames = features.Names(shipped)

// Entry is what programs offer for Block Battle. A contest bot reaches nothing of this file.
var Entry = &entry.Entry{
	Game: "blockbattle",
	Baseline: &entry.Baseline{Terms: TermNames[:], Weights: Tuned[:],
		New: func(w []float32) entry.Evaluator { return &Hand{Weights: Weights(w)} }},
	Learned: &entry.Learned{
		Features: features.Set{Names: FeatureNames, Own: OwnLen, New: func() features.Reader { return new(FeatureReader) }},
		Files:    shipped, File: "weights/blockbattle.safetensors",
		New: func(n *mlp.Net) entry.Evaluator { return NewLearned(n) },
	},
	Others:   append([]entry.Other{{Name: "terms6", New: func() entry.Evaluator { return Terms6{} }}}, styles...),
	Outcomes: blockbattle.Pieces,
	Guard:    func() search.Guard { return NewGuard() },
	Host:     hosted,
	Codec: func(g *env.Game, _, notes io.Writer) contest.Codec {
		dialect := blockbattle.ClassicDialect
		if g == blockbattle.PortGame {
			dialect = blockbattle.PortDialect
		}
		return NewCodec(dialect, notes)
	},
	Submission: &entry.Submission{
		Folder: "agents/submit/programs/blockbattle", MaxPly: 4, Start: entry.Lines, Replay: Replay(0),
	},
}

// hosted is the contest of Block Battle: rules §8 (protocol), §9 (time) and §13 (profiles).
var hosted = &contest.Contest{
	About: `A late answer is discarded and counts as no moves. A bot that exits, or is ended, makes no more
moves, but does not lose the game for that. Both bots get the same pieces and answer at the same
time, so deterministic bots play the same game again if only their seats are swapped: by default,
every game has a new seed. --profile names the rules; the default depends on the game's name:
document for blockbattle, port for blockbattle:port.`,
	Options: []contest.Option{
		{Name: "dialect", Choices: []string{"auto", "classic", "port", "beta"}, Clock: true,
			Help: "Dialect of the protocol; auto is that of the game's name, port for blockbattle:port. beta is for " +
				"bots of the first rules: time_bank, and no skips."},
		{Name: "profile", Choices: []string{"document", "classic", "port"}, Variant: true, Help: "Rules."},
		{Name: "timebank", Takes: "TIME", Default: "10s", Clock: true, Help: "Time bank at the start, and its upper limit."},
		{Name: "time-per-move", Takes: "TIME", Default: "500ms", Clock: true,
			Help: "Time added to the bank after every answer."},
		{Name: "timeouts", Takes: "N", Help: "Time-outs that end a bot. By default 2; by --profile classic 3, by port 1."},
		{Name: "new-seed", Choices: []string{"game", "pair"}, Help: "A new seed for every game, or every pair of games."},
	},
	Open: setUp,
}

// timeouts are the time-outs that end a bot, by the profile of the rules.
var timeouts = map[*env.Game]int{blockbattle.Game: 2, blockbattle.ClassicGame: 3, blockbattle.PortGame: 1}

var dialects = map[string]blockbattle.Dialect{
	"classic": blockbattle.ClassicDialect, "port": blockbattle.PortDialect, "beta": blockbattle.BetaDialect,
}

func dialectOf(name string) (blockbattle.Dialect, error) {
	d, ok := dialects[name]
	if !ok {
		return d, fmt.Errorf("dialect %.40q: want classic, port or beta", name)
	}
	return d, nil
}

// others says which dialects a bot may know that does not answer this one.
var others = map[blockbattle.Dialect]string{
	blockbattle.ClassicDialect: "it never answers: is it for --dialect port (action move), or beta (time_bank, no skips)?",
	blockbattle.PortDialect:    "it never answers: is it for --dialect classic (action moves)?",
	blockbattle.BetaDialect:    "it never answers: is it for --dialect classic (timebank, skips), or port (action move)?",
}

func setUp(g *env.Game, s contest.Settings) (*contest.Setup, error) {
	bank, err1 := s.Time("timebank", 1)
	move, err2 := s.Time("time-per-move", 0)
	ends, err3 := s.Number("timeouts", 0)
	if err := cmp.Or(err1, err2, err3); err != nil {
		return nil, err
	}
	limits := contest.Limits{Bank: bank, PerMove: move, Timeouts: cmp.Or(ends, timeouts[g])}
	dialect := dialects[s["dialect"]]
	if s["dialect"] == "auto" && g == blockbattle.PortGame {
		dialect = blockbattle.PortDialect
	}
	var other []string
	for name, d := range dialects {
		if d != dialect {
			other = append(other, name)
		}
	}
	slices.Sort(other)
	return &contest.Setup{
		Dialects: other,
		New: func(state env.State, moves func(env.Seats, env.Moves)) (contest.Host, bool) {
			ref := &Referee{Dialect: dialect, State: state.(*blockbattle.State), Limits: limits, Watch: moves}
			return contest.Host{Referee: ref, Limits: limits, MustStart: true, Hint: others[dialect]}, false
		},
	}, nil
}

// styles are the hand-tuned evaluator with other weights. Package bots says how they play.
var styles = []entry.Other{
	style("combo", func(w *Weights) {
		w[Combo] *= 8
	}),
	style("tspin", func(w *Weights) {
		for _, t := range []Term{Slots, Singles, Notches, Halves} {
			w[t] += 20
		}
		w[Doubles] *= 2
	}),
	style("quad", func(w *Weights) {
		w[Ready] += 20
		w[Quad] *= 8
	}),
	style("skipper", func(w *Weights) {
		w[Skips] = -40
	}),
	style("digger", func(w *Weights) {
		w[Cells] = -6
		for _, t := range []Term{Points, Sent, Doubles, Pressed} {
			w[t] /= 4
		}
	}),
}

func style(name string, change func(*Weights)) entry.Other {
	w := Tuned
	change(&w)
	return entry.Other{Name: name, New: func() entry.Evaluator { return &Hand{Weights: w} }}
}
