// Package dropbloxbot plays Dropblox (package env/dropblox): a beam search over the six blocks that are known, with a
// hand-tuned rating of boards or a learned one. "Rules §n" in comments is section n of env/dropblox/RULES.md.
package dropbloxbot

import (
	"embed"
	"errors"
	"unsafe"

	"blockyard/agents/bots/entry"
	"blockyard/agents/bots/features"
	"blockyard/agents/contest"
	"blockyard/agents/mlp"
	"blockyard/env"
	"blockyard/env/dropblox"
)

//go:embed weights features.txt
var shipped embed.FS

// Needs of options: of games on this machine, and at a server.
const local, remote = "!mode=practice !mode=compete", "mode=practice|mode=compete"

var FeatureNames = features.Names(shipped) // names the features of a board and its score, in order

// Entry is what programs offer for Dropblox. A contest bot reaches nothing of this file.
var Entry = &entry.Entry{
	Game: "dropblox",
	Host: hosted,
	Baseline: &entry.Baseline{Terms: TermNames[:], Weights: Classic[:],
		New: func(w []float32) entry.Evaluator { return &Hand{Weights: Weights(w)} }},
	Learned: &entry.Learned{
		Features: features.Set{Names: FeatureNames, Own: Len, New: func() features.Reader { return FeatureReader{} }},
		Files:    shipped, File: "weights/dropblox.safetensors",
		New:  func(n *mlp.Net) entry.Evaluator { return NewLearned(n) },
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

func newAgent(_ *env.Game, j entry.Evaluator, o entry.Options) (env.Agent, error) {
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

// hosted is the contest of Dropblox: rules §8 (protocol), §9 (time), §13 (history files) and §15 (server).
var hosted = &contest.Contest{
	About: `Mode local plays a game on this machine, practice a practice game at a contest's
server, and compete the next round of that server's competition. Several programs or seeds, or --log, make a tournament
on this machine, which keeps no histories by default; --history "" keeps none in any mode.

The program is started for every turn, with the state as JSON and the remaining seconds
as its two arguments. It writes left, right, up, down and rotate, one per line; then the
block drops. A game has 300 seconds in all. One second before the time runs out, the
program is ended; the commands that it has written until then count.

The history of a game is a folder history/<id>_<time> with files state0, move0, state1,
... and meta. "agents host dropblox local 50" plays seed 50 with ./dropblox_ai. A
tournament prints the mean score of every program with its 95 % interval, and its gain
over the first program on the same seeds; with --points also how many seconds of
the clock the score took. After Ctrl-C, the files of a game are
complete, and a tournament prints the result of the games played.`,
	Uploads: contest.Uploads{Program: "dropblox_ai", Kit: []string{"client.py", "history.py", "history_server.py",
		"messaging.py", "urllib2_file.py", "viewer.py", "viewer_server.py"}},
	Options: []contest.Option{
		{Name: "seeds", Takes: "N,...", Needs: local, Help: "Play these seeds."},
		{Name: "seconds", Takes: "N", Needs: local, Default: "300", Clock: true, Help: "Time of a local game, in seconds."},
		{Name: "turns", Takes: "N", Needs: local, Default: "0", Clock: true,
			Help: "End a local game after so many turns; 0 is no limit."},
		{Name: "points", Takes: "N", Needs: local, Default: "0", Help: "End a local game at this score; 0 is no limit."},
		{Name: "history", Takes: "DIR", Empty: true, Help: "Folder for the games' histories; by default history."},
		{Name: "own-dir", Help: "Run every program in its own folder."},
		{Name: "workers", Takes: "N", Needs: local, Default: "1", Help: "Games at the same time, which share the processor."},
		{Name: "server", Takes: "URL", Needs: remote, Help: "Address of the contest's server, for practice and compete."},
		{Name: "config", Takes: "FILE", Needs: remote, Default: "config.txt",
			Help: "File of two lines: the team's name and its password."},
	},
}
