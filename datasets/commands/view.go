package commands

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"blockyard/datasets/program"
	"blockyard/datasets/program/disk"
	"blockyard/datasets/program/web"
	"blockyard/datasets/record"
	"blockyard/datasets/record/playback"
	"blockyard/datasets/viewer"
	"blockyard/env"
	"blockyard/env/ansi"
	"blockyard/env/games"
	"blockyard/env/paint"

	"golang.org/x/term"
)

// A viewCmd has the flags of "datasets view". Its Run shows games in a terminal or a browser, or writes one as a page.
type viewCmd struct {
	Games   []string `arg:"" optional:"" name:"file#n" help:"${view_games}"`
	All     bool     `xor:"way" help:"Print every position and exit, as by default if the output is not a terminal."`
	From    int      `needs:"!html" help:"Start at this turn." placeholder:"N"`
	NoColor bool     `needs:"!web !html" help:"Print without colours." env:"NO_COLOR"`

	Web bool `xor:"way" help:"Show the games in a web browser: print the page's address, serve until interrupted."`
	web.PageFlags

	Live  string `needs:"web" help:"${view_live}" placeholder:"HOST:PORT"`
	Token string `needs:"live" help:"${view_token}" env:"BLOCKYARD_TOKEN" placeholder:"TEXT"`

	HTML string `name:"html" xor:"way" help:"${view_html}" placeholder:"FILE"`

	bounds `needs:"!web !html"`
}

func (c *viewCmd) Run(std *program.Console) error {
	if c.Live != "" {
		return c.live(std)
	}
	if len(c.Games) == 0 {
		path, err := viewer.Newest(".")
		if err != nil {
			return err
		}
		fmt.Fprintf(std.Err, "showing %s, the newest here\n", filepath.ToSlash(path))
		c.Games = []string{path}
	}
	if c.Web {
		return c.web(std)
	}
	if len(c.Games) != 1 {
		return errors.New("the terminal viewer shows one game: name one, or use --web")
	}
	path, n, err := viewer.FileAndNumber(c.Games[0])
	if err != nil {
		return err
	}
	name := fmt.Sprintf("%s#%d", path, n)
	if st, err := os.Stat(c.Games[0]); err == nil && st.IsDir() {
		if path = c.Games[0]; !viewer.IsHistory(path) {
			if path, err = viewer.NewestHistory(c.Games[0]); err != nil {
				return fmt.Errorf("%w; a folder of records is shown with --web", err)
			}
			fmt.Fprintf(std.Err, "showing %s, the newest in %s\n", filepath.ToSlash(path), c.Games[0])
		}
		name = filepath.ToSlash(path)
	}
	ctx := context.Background()
	if c.HTML != "" {
		var shown *viewer.Shown
		err := disk.Write(c.HTML, 0o644, func(w io.Writer) (err error) {
			shown, err = viewer.WriteHTML(ctx, w, path, n)
			return err
		})
		if err != nil {
			return err
		}
		return json.NewEncoder(std.Out).Encode(shown)
	}
	rec, _, err := viewer.ReadGame(ctx, path, n, c.MaxBytes)
	if rec == nil {
		return err
	}
	if err := errors.Join(c.show(std, rec, name), err); err != nil {
		return fmt.Errorf("%s: %w", c.Games[0], err)
	}
	return nil
}

func (c *viewCmd) show(std *program.Console, rec *record.Record, name string) error {
	g, err := games.Recorded(rec.Game, rec.Table)
	if err != nil {
		return err
	}
	r, err := playback.Whole(context.Background(), g, rec)
	if err != nil {
		return err
	}
	v := &screen{timeline: r, name: name, colour: program.Terminal(std.Out) && !c.NoColor}
	r.Seek(c.From)
	show := v.interact
	if c.All || !program.Terminal(std.In) || !program.Terminal(std.Out) {
		show = v.printAll
	}
	if err := show(std); err != nil {
		return err
	}
	return r.Err()
}

func (c *viewCmd) web(std *program.Console) error {
	if c.From != 0 && len(c.Games) != 1 {
		return errors.New("--from with several games: name one game")
	}
	ctx, stop := program.Context()
	defer stop()
	site := viewer.Site{Games: c.Games, Turn: c.From, PageFlags: c.PageFlags}
	return site.Serve(ctx, std.Out, std.Err)
}

// live serves a page of games that are played on a server, until the process is interrupted.
func (c *viewCmd) live(std *program.Console) error {
	if len(c.Games) > 0 || c.From != 0 {
		return errors.New("--live shows a server's games: leave out files and --from")
	}
	ctx, stop := program.Context()
	defer stop()
	page := viewer.Live{Address: c.Live, Token: c.Token, PageFlags: c.PageFlags}
	return page.Serve(ctx, std.Out, std.Err)
}

const (
	clearScreen = "\x1b[H\x1b[2J"
	altScreen   = "\x1b[?1049h\x1b[?25l"
	mainScreen  = "\x1b[?25h\x1b[?1049l"
	mostText    = 1000 // bytes of a line beside the boards
)

// A screen draws the positions of a timeline in a terminal.
type screen struct {
	timeline *playback.Timeline
	name     string
	colour   bool
	frame    env.Frame
}

// show prints the position of the timeline; in place it fits the screen.
func (v *screen) show(w io.Writer, inPlace bool) error {
	var out strings.Builder
	r := v.timeline
	r.Show(&v.frame)
	text := fmt.Sprintf("%s  %s  %s", v.name, r.Rec.Game, strings.Join(r.Rec.Names(), " – "))
	fmt.Fprintf(&out, "%s  turn %d of %d\n", ansi.Plain(text, mostText), r.At(), r.Len()-1)
	below := notes(r)
	for k, line := range below {
		below[k] = ansi.Plain(line, mostText)
	}
	if inPlace {
		out.WriteString(paint.Terminal(&v.frame, v.colour, below...))
	} else {
		out.WriteString(v.frame.String() + strings.Join(append(below, ""), "\n"))
	}
	_, err := io.WriteString(ansi.Styled(w), out.String())
	return err
}

// notes are the lines below a frame: the actions from the position, or the final scores.
func notes(r *playback.Timeline) []string {
	var out []string
	names := r.Rec.Names()
	s, last := r.State(), r.Last()
	for seat := range r.Rec.Seats {
		line := fmt.Sprintf("seat %d (%s): score %d", seat+1, names[seat], s.Score(seat))
		switch a := r.Moves()[seat]; {
		case last:
			line += fmt.Sprintf(", result %+g", s.Result(seat))
		case !s.Acting().Has(seat):
		case a == env.None:
			line += ", no action"
		default:
			line += ", plays " + r.Game.Text(a)
		}
		out = append(out, line)
	}
	if why := r.Rec.Decided(); last && why != "" {
		out = append(out, "decided by: "+why)
	}
	if last && r.Rec.Stopped {
		out = append(out, "the game was stopped here")
	}
	if last && r.Err() != nil {
		out = append(out, "the record does not replay: "+r.Err().Error())
	}
	return out
}

func (v *screen) printAll(std *program.Console) error {
	for n := v.timeline.At(); n < v.timeline.Len(); n++ {
		v.timeline.Seek(n)
		if err := v.show(std.Out, false); err != nil {
			return err
		}
		if _, err := fmt.Fprintln(std.Out); err != nil {
			return err
		}
	}
	return nil
}

func (v *screen) interact(std *program.Console) error {
	fd := int(std.In.(*os.File).Fd())
	old, err := term.MakeRaw(fd)
	if err != nil {
		return err
	}
	defer func() { _ = term.Restore(fd, old) }()
	fmt.Fprint(ansi.Styled(std.Out), altScreen)
	defer fmt.Fprint(ansi.Styled(std.Out), mainScreen)
	return v.browse(std.In, program.Raw(std.Out))
}

// browse shows positions as keys ask for, until the key to quit or the end of in.
func (v *screen) browse(in io.Reader, out io.Writer) error {
	keys := make([]byte, 16)
	for {
		if _, err := io.WriteString(ansi.Styled(out), clearScreen); err != nil {
			return err
		}
		if err := v.show(out, true); err != nil {
			return err
		}
		fmt.Fprintln(out, "→ next   ← back   ↓ ↑ ten   home end   q quit")
		n, err := in.Read(keys)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		key := string(keys[:n])
		if slices.Contains([]string{"q", "\x1b", "\x03", "\x04"}, key) {
			return nil
		}
		v.timeline.Seek(v.timeline.At() + turns[key])
	}
}

// turns are how many turns a key leads on. The timeline stops at its ends.
var turns = map[string]int{
	"\x1b[C": 1, "\x1bOC": 1, " ": 1, "n": 1, "l": 1, "\r": 1,
	"\x1b[D": -1, "\x1bOD": -1, "b": -1, "h": -1, "\x7f": -1,
	"\x1b[B": 10, "\x1bOB": 10, "\x1b[6~": 10, "j": 10,
	"\x1b[A": -10, "\x1bOA": -10, "\x1b[5~": -10, "k": -10,
	"\x1b[H": -far, "\x1bOH": -far, "\x1b[1~": -far, "g": -far,
	"\x1b[F": far, "\x1bOF": far, "\x1b[4~": far, "G": far,
}

const far = 1 << 30 // more turns than a game has
