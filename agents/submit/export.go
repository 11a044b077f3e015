package submit

import (
	"archive/zip"
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"fmt"
	"go/format"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"blockyard/agents/contest/trial"
	"blockyard/agents/mlp"
	"blockyard/agents/submit/flatten"
	"blockyard/agents/submit/programs/netpack"
	"blockyard/datasets/program"
	"blockyard/datasets/program/disk"
)

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
command of the Python package, which has them ready; without Go the file is not compiled then. If the
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
	f, err := b.Source()
	if err != nil {
		return "", err
	}
	report = f.describe(b, out)
	if _, err := exec.LookPath("go"); err != nil {
		report += "not compiled and not tested: there is no Go here\n"
	} else {
		bar := program.NewBar(os.Stderr, false, -1, "answers")
		bar.Describef("the bot answers stored games")
		replayed, err := check(ctx, b.Game, f.Source, func(trial.Answer) { _ = bar.Add(1) })
		_ = bar.Finish()
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

// widths are the number of inputs of net and the number of outputs of each of its layers.
func widths(net *mlp.Net) []int {
	all := []int{net.In()}
	for _, l := range net.Layers() {
		all = append(all, l.Out)
	}
	return all
}

// textLen is the length of what netpack.Encode writes for a network of these widths.
func textLen(widths []int, bits int) int {
	weights, head := 0, fmt.Sprint(bits)
	for i, in := range widths[:len(widths)-1] {
		weights += (in + 1) * widths[i+1]
		head += fmt.Sprintf(" %d %d", in, widths[i+1])
	}
	n := base64.RawStdEncoding.EncodedLen((weights*bits + 7) / 8)
	return len(head) + 1 + n + max(0, n-1)/netpack.LineLen
}

// units is the largest number of hidden units per layer with which a network of as many inputs, layers and outputs as
// net fits into room characters, less spare if weights have more than fewestBits. It is 0 if none fits, or if net has
// no hidden layer.
func units(net *mlp.Net, room, bits int) int {
	all := widths(net)
	if len(all) < 3 {
		return 0
	}
	if bits > fewestBits {
		room -= spare
	}
	for most := 1; ; most++ {
		for i := range all[1 : len(all)-1] {
			all[i+1] = most
		}
		if textLen(all, bits) > room {
			return most - 1
		}
	}
}

func fitting(net *mlp.Net, room int) string {
	rounded := fmt.Sprintf("at most %d hidden units", units(net, room, fewestBits))
	if n := len(net.Layers()) - 1; n > 1 {
		rounded += fmt.Sprintf(" in each of %d layers", n)
	}
	return fmt.Sprintf("%s, or %d for exact weights", rounded, units(net, room, netpack.Exact))
}
