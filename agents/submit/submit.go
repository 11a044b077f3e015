// Package submit makes contest bots: one Go source file per bot, with a network built in, that needs nothing but the
// standard library. The programs are in agents/submit/programs; package flatten turns one into a single file. Export is
// the command "agents bundle", which writes a bot in three steps:
//
//   - Bot.Source flattens the program and builds the network in, with weights rounded until the file is short enough.
//   - Compile builds the file alone, as the contest does.
//   - The game's trial.Script sends the executable what its contest would, and judges the answers.
package submit

import (
	"archive/zip"
	"bytes"
	"cmp"
	"context"
	"fmt"
	"go/format"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"blockyard/agents/bots"
	"blockyard/agents/bots/entry"
	"blockyard/agents/contest/trial"
	"blockyard/agents/mlp"
	"blockyard/agents/submit/flatten"
	"blockyard/agents/submit/programs/netpack"
	"blockyard/datasets/program"
	"blockyard/datasets/program/disk"
	"blockyard/env"
	"blockyard/env/games"
)

// MaxChars is the longest source file that the contests accept, in characters.
const MaxChars = 100000

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

// Export holds the arguments of the command "agents bundle" that say what to build.
type Export struct {
	Game    string `arg:"" help:"Game of the contest: blockbattle, blocking, dropblox or tetrisduel."`
	Weights string `placeholder:"FILE" help:"Network to build in, a safetensors file. Default: the shipped one."`
	Ply     int    `placeholder:"N" help:"Moves to look ahead, 2 or more. Default, and most: 4 in Block Battle, else 16."`
	Zip     bool   `help:"Also write the upload, an archive with main.go in it, to the same name ending in .zip."`
}

// Help returns the longer description of the commands that export a bot.
func (*Export) Help() string {
	return fmt.Sprintf(`The file needs nothing but the standard library and Go %s, and has at most %d characters.
Before it is written, it is compiled alone, and the program answers stored logs or whole games
of the contest. Run this inside the source tree, because the bot is made of its packages, or by the
command of the Python package, which has its own ready; without Go the file is not compiled then. If the
bot is too slow only because the machine is busy, the error says so, with what was measured.
By default the bot is the strongest one: in turn-based games, where --ply counts the opponents' moves too,
it looks as far ahead as its time allows. A smaller --ply leaves more room for a larger network, and
saves CPU time. The Dropblox bot has no --ply.`, flatten.Lang[2:], MaxChars)
}

// Bot loads the network. With baseline set, the bot has none and plays with hand-tuned weights.
func (e *Export) Bot(baseline bool) (Bot, error) {
	b := Bot{Game: e.Game, Ply: e.Ply}
	g, offers, err := lookup(e.Game)
	if err == nil && !baseline {
		b.Net, err = offers.LoadNet(g, e.Weights)
	}
	return b, err
}

// Write makes the bot, checks it, writes it to out, and says what it did. If anything fails, it writes nothing.
func (e *Export) Write(ctx context.Context, b Bot, out string) (report string, err error) {
	bar := program.NewBar(os.Stderr, false, -1, "answers")
	defer bar.Close()
	bar.Describef("the file is written")
	f, err := b.Source()
	if err != nil {
		return "", err
	}
	report = f.describe(b, out)
	if _, err := exec.LookPath("go"); err != nil {
		report += "not compiled and not tested: there is no Go here\n"
	} else {
		bar.Describef("it is compiled alone, and answers stored games")
		replayed, err := check(ctx, b.Game, f.Source, func(trial.Answer) { _ = bar.Add(1) })
		bar.Close()
		if err != nil {
			return "", err
		}
		report += fmt.Sprintf("compiled alone\n"+
			"replay: %d logs, %d answers, no breach of protocol, %.1f ms per answer, %.1f ms at most\n",
			replayed.Logs, replayed.Answers, replayed.Mean.Seconds()*1000, replayed.Longest.Seconds()*1000)
	}
	if e.Zip {
		upload := strings.TrimSuffix(out, filepath.Ext(out)) + ".zip"
		if err := save(upload, Zip(f.Source)); err != nil {
			return "", err
		}
		report += upload + ": the same as an upload, main.go on top\n"
	}
	return report, save(out, f.Source)
}

func save(path string, data []byte) error {
	return cmp.Or(os.MkdirAll(filepath.Dir(path), 0o755), disk.WriteText(path, 0o644, string(data)))
}

func (f *File) describe(b Bot, out string) string {
	weights := "hand-tuned"
	if b.Net != nil {
		weights = "exact"
		if f.Bits != netpack.Exact {
			weights = fmt.Sprintf("rounded to %d bits each", f.Bits)
		}
		weights = fmt.Sprintf("net %s, %s\nroom: %d characters for a network: %s", Hash(b.Net), weights, f.Room,
			fitting(b.Net, f.Room))
	}
	return fmt.Sprintf("%s: %d of at most %d characters, Go %s\nweights: %s\n",
		out, len(f.Source), MaxChars, flatten.Lang[2:], weights)
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
		return 0, fmt.Errorf("ply %d, but its bot searches in one way only: leave --ply out", n)
	case n < 2 || n > s.MaxPly:
		return 0, fmt.Errorf("ply %d, want 2 to %d", n, s.MaxPly)
	}
	return n, nil
}

// check compiles the source alone, then replays the contest to it. each gets every answer; it may be nil.
func check(ctx context.Context, game string, src []byte, each func(trial.Answer)) (r trial.Result, err error) {
	_, e, err := lookup(game)
	if err != nil {
		return r, err
	}
	dir, err := os.MkdirTemp("", "bot-")
	if err != nil {
		return r, err
	}
	defer os.RemoveAll(dir)
	exe := filepath.Join(dir, "bot")
	if err := Compile(ctx, src, exe); err != nil {
		return r, err
	}
	return e.Submission.Replay.Play(ctx, []string{exe}, each)
}

// Compile builds src alone into the executable exe: in an empty folder, as a module of language version flatten.Lang,
// without network. Before that, gofmt and go vet must find nothing.
func Compile(ctx context.Context, src []byte, exe string) error {
	clean, err := format.Source(src)
	if err != nil {
		return fmt.Errorf("compile bot: %w", err)
	}
	if !bytes.Equal(clean, src) {
		return fmt.Errorf("compile bot: gofmt would change the source")
	}
	dir, err := os.MkdirTemp("", "bot-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	mod := "module bot\n\ngo " + flatten.Lang[2:] + "\n"
	for name, text := range map[string][]byte{"go.mod": []byte(mod), "main.go": src} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			return err
		}
	}
	if exe, err = filepath.Abs(exe); err != nil {
		return err
	}
	for _, args := range [][]string{{"vet", "."}, {"build", "-ldflags=-s -w", "-o", exe, "."}} {
		cmd := exec.CommandContext(ctx, "go", args...)
		cmd.Dir = dir
		// Without the folder's name in the result, the same source is compiled once and then found in the cache.
		cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-trimpath", "GOPROXY=off", "CGO_ENABLED=0",
			"GOTOOLCHAIN=local")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("compile bot: go %s: %w\n%s", args[0], cmp.Or(ctx.Err(), err), out)
		}
	}
	return nil
}

// Zip returns src as an upload: an archive with main.go at its top and nothing else, which contest servers build.
func Zip(src []byte) []byte {
	var b bytes.Buffer // takes everything
	z := zip.NewWriter(&b)
	f, _ := z.Create("main.go")
	_, _ = f.Write(src)
	_ = z.Close()
	return b.Bytes()
}
