// Package submit makes contest bots: one Go source file per bot, with a network built in, that needs nothing but the
// standard library. The programs are in agents/submit/programs; package flatten turns one into a single file. Export is
// the command "agents bundle", which writes a bot in three steps:
//
//   - Bot.Source flattens the program and builds the network in, with weights rounded until the file is short enough.
//   - Compile builds the file alone, as the contest does.
//   - The game's trial.Script sends the executable what its contest would, and judges the answers.
package submit

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"blockyard/agents/bots"
	"blockyard/agents/bots/entry"
	"blockyard/agents/mlp"
	"blockyard/agents/submit/flatten"
	"blockyard/agents/submit/programs/netpack"
	"blockyard/env"
	"blockyard/env/games"
)

// MaxChars is the longest source file that the contests accept, in characters.
const MaxChars = 100000

// fewestBits is the least that rounding leaves of a weight: 1 bit of sign, 8 of exponent, 4 of mantissa.
const fewestBits = 13

// A file keeps spare characters free for changes of the code, as long as its weights have more than fewestBits.
const spare = 5000

// settings is the file that holds a program's network and search depth.
const settings = "agents/submit/programs/program/settings.go"

// A Bot says which contest bot to write, and how deep it searches.
type Bot struct {
	Game string
	Net  *mlp.Net // built in; nil for the baseline, a hand-tuned evaluator
	Ply  int      // search depth; 0 means the game's greatest, the strongest bot
	Dir  string   // a folder inside the module; empty for the current one
}

// A File is a bot as one source file, and how the network was fitted into it.
type File struct {
	Source []byte
	Bits   int // kept of each weight; netpack.Exact for all; 0 without a network
	Room   int // characters that the code leaves for a network; 0 without one
}

// Source returns the bot's file, not compiled yet. Weights keep as many bits as fit into MaxChars less 5,000
// characters; at 13 bits, the fewest, the file may have MaxChars. If not all fit, the bot plays a rounded network.
func (b Bot) Source() (f *File, err error) {
	defer func() {
		if err != nil {
			f, err = nil, fmt.Errorf("bot for %s: %w", b.Game, err)
		}
	}()
	_, e, err := lookup(b.Game)
	if err != nil {
		return nil, err
	}
	if b.Ply, err = ply(e.Submission, b.Ply); err != nil {
		return nil, err
	}
	src, err := b.program(e.Submission)
	if err != nil {
		return nil, err
	}
	return b.fill(src)
}

// fill puts the network into the flattened program, with as many bits per weight as fit into the room.
func (b Bot) fill(src string) (*File, error) {
	f := &File{Source: []byte(src)}
	if b.Net != nil {
		all := textLen(widths(b.Net), netpack.Exact)
		f.Source = b.with(src, netpack.Exact)
		f.Room = MaxChars - (len(f.Source) - all)
		f.Bits = min(netpack.Exact, netpack.Exact*f.Room/all+1) // the first tries may be a few characters too long
		for len(f.Source) > MaxChars || f.Bits > fewestBits && len(f.Source) > MaxChars-spare {
			if f.Bits--; f.Bits < fewestBits {
				return nil, fmt.Errorf("the network takes %d characters with all its bits and %d with %d bits per weight, "+
					"but %d characters of code leave %d: train one with %s", all, textLen(widths(b.Net), fewestBits),
					fewestBits, MaxChars-f.Room, f.Room, fitting(b.Net, f.Room))
			}
			f.Source = b.with(src, f.Bits)
		}
	}
	if n := utf8.RuneCount(f.Source); n > MaxChars {
		return nil, fmt.Errorf("%d characters, %d more than the limit of %d (%s)",
			n, n-MaxChars, MaxChars, flatten.Sizes(f.Source))
	}
	return f, nil
}

// with returns a program with the network in so many bits per weight.
func (b Bot) with(src string, bits int) []byte {
	text, _ := netpack.Encode(b.Net, bits) // the numbers of bits that are tried are valid
	name := fmt.Sprintf("net %s, %d bits a weight", Hash(b.Net), bits)
	return []byte(strings.NewReplacer(textMark, text, headerMark, name).Replace(src))
}

// program returns the flattened program: made of the sources or, in an installation without them, by WritePrograms.
func (b Bot) program(s *entry.Submission) (string, error) {
	missing := inTree(b.Dir)
	if missing == nil {
		if _, err := exec.LookPath("go"); err != nil {
			return "", fmt.Errorf("%w: the Go tools read the program's packages", err)
		}
		return b.flatten(s, b.Net != nil)
	}
	file, err := installed(b.Game, b.Net != nil)
	if err != nil {
		return "", err
	}
	src, err := os.ReadFile(file)
	switch {
	case err != nil:
		return "", missing
	case b.Ply != s.MaxPly:
		return "", fmt.Errorf("ply %d: an installed blockyard makes the strongest bot only, so leave the ply out: %w",
			b.Ply, missing)
	}
	return string(src), nil
}

// installed is the file beside this executable that holds the flattened program of a game.
func installed(game string, learned bool) (string, error) {
	self, err := os.Executable()
	if err == nil {
		self, err = filepath.EvalSymlinks(self)
	}
	return filepath.Join(filepath.Dir(self), "bots", programName(game, learned)), err
}

func programName(game string, learned bool) string {
	if learned {
		return game + ".go"
	}
	return game + "-hand.go"
}

// WritePrograms writes the flattened programs of every game to the folder dir, for an installation without sources,
// where Bot.Source builds a network into them.
func WritePrograms(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, e := range submitted() {
		for _, learned := range []bool{false, true} {
			src, err := Bot{Game: e.Game, Ply: e.Submission.MaxPly}.flatten(e.Submission, learned)
			if err == nil {
				err = os.WriteFile(filepath.Join(dir, programName(e.Game, learned)), []byte(src), 0o644)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// inTree returns an error if dir is not inside the source tree of this module.
func inTree(dir string) error {
	from, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	for at := from; ; at = filepath.Dir(at) {
		text, err := os.ReadFile(filepath.Join(at, "go.mod"))
		if err == nil && strings.HasPrefix(string(text), "module blockyard\n") {
			return nil
		}
		if at == filepath.Dir(at) {
			return fmt.Errorf("%s is outside the source tree of Blockyard: the bot is made of the packages there, "+
				"so run this in the folder that has Blockyard's go.mod, or below it", from)
		}
	}
}

// The flattened program holds these two for the network, whose number of bits depends on the length of the rest.
const (
	textMark   = "the text of the network"
	headerMark = "the name of the network"
)

// flatten makes one file of the program, with marks in place of the network of a bot that has learned.
func (b Bot) flatten(s *entry.Submission, learned bool) (string, error) {
	text, weights := "", "hand-tuned weights"
	if learned {
		text, weights = textMark, headerMark
	}
	built := fmt.Sprintf("package program\n\nconst NetText = `%s`\n\nconst Ply = %d\n", text, b.Ply)
	if s.MaxPly > 0 {
		weights += fmt.Sprintf(", %d choices ahead", b.Ply)
	}
	src, err := flatten.Source(flatten.Options{
		Package: "blockyard/" + s.Folder, Dir: b.Dir,
		Header: []string{
			"Code generated by blockyard: agents bundle " + b.Game + "; DO NOT EDIT.",
			"",
			"A bot for the contest " + b.Game + ", " + weights + ".",
			"It needs nothing but Go " + flatten.Lang[2:] + " or newer. Build it and run it:",
			"",
			"	go build -o bot main.go && ./bot",
			"",
			s.Start,
		},
		Replace: map[string][]byte{settings: []byte(built)},
	})
	return string(src), err
}

// Hash identifies a network by its weights.
func Hash(net *mlp.Net) string {
	text, _ := netpack.Encode(net, netpack.Exact)
	return fmt.Sprintf("%.6x", sha256.Sum256([]byte(text)))
}

// lookup finds a game whose contest takes a source file.
func lookup(name string) (*env.Game, *entry.Entry, error) {
	g, err := games.Lookup(name)
	if err != nil {
		return nil, nil, err
	}
	e := bots.Of(g)
	if s := e.Submission; e.Game == name && s != nil {
		if s.Folder == "" {
			err = fmt.Errorf("%s has no bot in one file: %s", name, s.Build)
		}
		return g, e, err
	}
	var known []string
	for _, e := range submitted() {
		known = append(known, e.Game)
	}
	return nil, nil, fmt.Errorf("%s has no bot in one file: want %s", name, strings.Join(known, ", "))
}

func submitted() []*entry.Entry {
	return slices.DeleteFunc(slices.Clone(bots.All), func(e *entry.Entry) bool {
		return e.Submission == nil || e.Submission.Folder == ""
	})
}

// ply checks a search depth and replaces 0 by the default, the greatest: a deeper bot is stronger.
func ply(s *entry.Submission, n int) (int, error) {
	switch {
	case n == 0:
		return s.MaxPly, nil
	case s.MaxPly == 0:
		return 0, fmt.Errorf("ply %d, but its bot searches in one way only: leave the ply out", n)
	case n < 2 || n > s.MaxPly:
		return 0, fmt.Errorf("ply %d, want 2 to %d", n, s.MaxPly)
	}
	return n, nil
}
