// Package tetrisduelbot has the agents of the Tetris duel (package env/tetrisduel) and both ends of its contest's
// protocol. "Rules §n" in comments is section n of env/tetrisduel/RULES.md.
package tetrisduelbot

import (
	"embed"
	"io"
	"regexp"

	"blockyard/agents/bots/entry"
	"blockyard/agents/bots/features"
	"blockyard/agents/contest"
	"blockyard/agents/mlp"
	"blockyard/agents/search"
	"blockyard/env"
	"blockyard/env/tetrisduel"
)

//go:embed weights features.txt
var shipped embed.FS

// FeatureNames are the names of the features in order. A file of weights repeats them, so that a network never reads
// features that it was not trained on.
var FeatureNames = features.Names(shipped)

// Entry lists what this package offers. The source of a contest bot leaves this file out.
var Entry = &entry.Entry{
	Game: "tetrisduel",
	Baseline: &entry.Baseline{Terms: TermNames[:], Weights: Tuned[:],
		New: func(w []float32) entry.Evaluator { return &Hand{Weights: Weights(w)} }},
	Learned: &entry.Learned{
		Features: features.Set{Names: FeatureNames, Own: OwnLen, New: func() features.Reader { return new(FeatureReader) }},
		Files:    shipped, File: "weights/tetrisduel.safetensors",
		New: func(n *mlp.Net) entry.Evaluator { return NewLearned(n) },
	},
	Host:  hosted,
	Codec: func(_ *env.Game, out, _ io.Writer) contest.Codec { return NewCodec(out) },
	Submission: &entry.Submission{
		Folder: "agents/submit/programs/tetrisduel", MaxPly: search.MaxPly, Start: entry.Lines,
		Replay: Replay(1, DefaultTime),
	},
}

// original runs a bot of the original engine: a class Player in Python.
//
//go:embed pybot.py
var original string

// hosted is the contest of the Tetris duel: rules §8 (protocol) and §9 (time).
var hosted = &contest.Contest{
	About: `A bot loses the game at once by an illegal placement (illegal), if its process ends
(exception), if its time is used up (timeout) or if it does not get ready (missing). The bot that won more games
wins the match; at equal games, the one with more time left. It matters who begins, so by default both games of a
pair have the same seed, and each bot begins one of them. A match of the original tournament was --pairs 10. An
original Python bot, a file with class Player, is handed in as it is.`,
	Options: []contest.Option{
		{Name: "budget", Takes: "TIME", Default: "20s", Clock: true, Help: "Time of a bot for all answers of a game."},
		{Name: "moves", Choices: []string{"on", "off"}, Help: "Whether requests list the legal placements."},
		{Name: "tie", Choices: []string{"draw", "time"}, Clock: true,
			Help: "At equal points: a draw, or less time used wins."},
		{Name: "pairs", Takes: "N", Help: "Number of pairs of games, instead of --games."},
		{Name: "new-seed", Choices: []string{"pair", "game"}, Help: "A new seed for every pair of games, or every game."},
	},
	Uploads: contest.Uploads{Class: regexp.MustCompile(`(?m)^class\s+Player\b`), Wrapper: original},
	Losses:  []string{tetrisduel.Illegal.String(), Exception, Timeout, Missing},
	Open: func(_ *env.Game, s contest.Settings) (*contest.Setup, error) {
		budget, err := s.Time("budget", 1)
		if err != nil {
			return nil, err
		}
		pairs, err := s.Number("pairs", 1)
		if err != nil {
			return nil, err
		}
		return &contest.Setup{
			Games: 2 * pairs,
			New: func(state env.State, moves func(env.Seats, env.Moves)) (contest.Host, bool) {
				ref := &Referee{
					State: state.(*tetrisduel.State), Time: budget, NoList: s["moves"] == "off", TieByTime: s["tie"] == "time",
					Watch: moves,
				}
				return contest.Host{Referee: ref, Limits: contest.TotalBudget(budget)}, false
			},
		}, nil
	},
}
