package blockingbot

import (
	"embed"
	"errors"
	"io"

	"blockyard/agents/bots/entry"
	"blockyard/agents/bots/features"
	"blockyard/agents/contest"
	"blockyard/agents/mlp"
	"blockyard/agents/search"
	"blockyard/env"
	"blockyard/env/blocking"
)

//go:embed weights features.txt
var shipped embed.FS

// FeatureNames are the names of the features in order. A file of weights repeats them, so that a network never reads
// features that it was not trained on.
var FeatureNames = features.Names(shipped)

// Entry is what programs offer for Blocking. A contest bot reaches nothing of this file.
var Entry = &entry.Entry{
	Game: "blocking",
	Baseline: &entry.Baseline{Terms: TermNames[:], Weights: Tuned[:],
		New: func(w []float32) entry.Evaluator { return &Hand{Weights: Weights(w)} }},
	Learned: &entry.Learned{
		Features: features.Set{Names: FeatureNames, Own: OwnLen, New: func() features.Reader { return new(FeatureReader) }},
		Files:    shipped, File: "weights/blocking.safetensors",
		New: func(n *mlp.Net) entry.Evaluator { return NewLearned(n) },
	},
	Others: []entry.Other{{Name: "greedy", New: func() entry.Evaluator { return &Greedy{} }}},
	Host:   hosted,
	Codec:  func(_ *env.Game, _, notes io.Writer) contest.Codec { return &Codec{Notes: notes} },
	Submission: &entry.Submission{
		Folder: "agents/submit/programs/blocking", MaxPly: search.MaxPly, Start: entry.Lines, Replay: Replay(20, ReplaySlack),
	},
}

// hosted is the contest of Blocking: rules §8 (protocol) and §9 (time).
var hosted = &contest.Contest{
	About: `A bot that is late, ends, or answers anything but a legal placement is eliminated.
--games counts all games. A set of games has every seating once: --seatings cyclic puts
every bot in every seat, and all plays every order of the bots. The order of the seats
matters, so by default the games of a set have the same letters (the shapes drawn). A line
of --shapes is a letter, the numbers of columns and rows, and the squares. "agents host
blocking:shapes=FILE" is the same; arena, play, bot and tournament take that name too. A record
has the shapes in it.`,
	Options: []contest.Option{
		{Name: "first-time", Takes: "TIME", Default: "1s", Clock: true,
			Help: "Time limit of a bot's first answer, including its start."},
		{Name: "time", Takes: "TIME", Default: "200ms", Clock: true, Help: "Time limit of the later answers."},
		{Name: "tolerance", Takes: "TIME", Default: "50ms", Clock: true, Help: "Added to both limits, for a busy machine."},
		{Name: "seatings", Choices: []string{"cyclic", "all"}, Help: "How the bots change seats."},
		{Name: "early-end", Choices: []string{"on", "off"}, Help: "Whether a game ends when it is decided."},
		{Name: "new-seed", Choices: []string{"set", "game"}, Help: "A new seed for every set of seatings, or every game."},
		{Name: "shapes", Takes: "FILE", Variant: true, Help: "File of 21 lines: the shapes to play with."},
	},
	Open: func(_ *env.Game, s contest.Settings) (*contest.Setup, error) {
		first, err1 := s.Time("first-time", 1)
		later, err2 := s.Time("time", 1)
		tolerance, err3 := s.Time("tolerance", 0)
		if err := errors.Join(err1, err2, err3); err != nil {
			return nil, err
		}
		limits := contest.FixedPerMove(first, later, tolerance)
		playOut := s["early-end"] == "off" // which the seed does not tell
		return &contest.Setup{
			New: func(state env.State, moves func(env.Seats, env.Moves)) (contest.Host, bool) {
				s := state.(*blocking.State)
				s.PlayOut = playOut
				return (&Referee{State: s, Watch: moves}).Host(limits, nil), playOut
			},
		}, nil
	},
}
