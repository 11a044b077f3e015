package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"blockyard/datasets/playback"
	"blockyard/env"
	"blockyard/env/ansi"
	"blockyard/env/games"

	"golang.org/x/term"
)

type viewCmd struct {
	Games   []string `arg:"" name:"file#n" help:"A file of records and which of its games, counted from 1 (the first if left out). For --web, files, folders of them, and Dropblox history folders."`
	All     bool     `help:"Print every position and end, as is done anyway when the output is not a terminal."`
	From    int      `help:"Begin at this position." placeholder:"N"`
	NoColor bool     `help:"Text without colours." env:"NO_COLOR"`

	Web    bool   `help:"Show the games in a web browser: prints the address of the page and serves it until interrupted."`
	Listen string `help:"Address to serve the page on; port 0 is any that is free." default:"127.0.0.1:0" placeholder:"HOST:PORT"`
	Open   bool   `help:"With --web, open the page in the browser."`
}

func (c *viewCmd) Help() string {
	return `Keys: right, space, n: next position; left, b: back; down, up: ten on, ten back; home, g: the
beginning; end, G: the end; q: leave. In the browser: space plays, arrows step, + and - change the speed.`
}

func (c *viewCmd) Run(std *streams) error {
	if c.Web {
		return c.web(std)
	}
	if c.Open {
		return errors.New("--open goes with --web")
	}
	if len(c.Games) != 1 {
		return errors.New("the terminal shows one game; --web shows many")
	}
	game := c.Games[0]
	file, n, err := fileAndNumber(game)
	if err != nil {
		return err
	}
	rec, err := find(file, n)
	if err != nil {
		return err
	}
	g, err := games.Lookup(rec.Game)
	if err != nil {
		return fmt.Errorf("%s: %w", game, err)
	}
	r, err := playback.Whole(g, rec)
	if err != nil {
		return fmt.Errorf("%s: %w", game, err)
	}
	v := &screen{reel: r, name: fmt.Sprintf("%s#%d", file, n), colour: terminal(std.out) && !c.NoColor}
	r.Seek(c.From)
	if c.All || !terminal(std.in) || !terminal(std.out) {
		err = v.printAll(std.out)
	} else {
		err = v.interact(std)
	}
	if err == nil && r.Err() != nil {
		return fmt.Errorf("%s: %w", game, r.Err())
	}
	return err
}

// fileAndNumber takes "file#n" apart; n is 1 if it is left out.
func fileAndNumber(game string) (file string, n int, err error) {
	at := strings.LastIndexByte(game, '#')
	if at < 0 {
		return game, 1, nil
	}
	n, err = strconv.Atoi(game[at+1:])
	if err != nil || n < 1 {
		return "", 0, fmt.Errorf("%s: what follows # is to be the number of a game, from 1", game)
	}
	return game[:at], n, nil
}

// Control sequences of a terminal.
const (
	clearScreen = "\x1b[H\x1b[2J"
	altScreen   = "\x1b[?1049h\x1b[?25l"
	mainScreen  = "\x1b[?25h\x1b[?1049l"
)

// terminal reports whether a stream is one.
func terminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// A screen shows a reel.
type screen struct {
	reel   *playback.Reel
	name   string
	colour bool
	frame  env.Frame
}

// show writes the position the reel is at.
func (v *screen) show(w io.Writer) error {
	var out strings.Builder
	fmt.Fprintln(&out, title(v.reel, v.name))
	v.reel.Show(&v.frame)
	if v.colour {
		out.WriteString(ansi.Frame(&v.frame))
	} else {
		out.WriteString(v.frame.String())
	}
	for _, line := range notes(v.reel) {
		fmt.Fprintln(&out, line)
	}
	_, err := io.WriteString(w, out.String())
	return err
}

// printAll writes every position from where the reel is.
func (v *screen) printAll(w io.Writer) error {
	for n := v.reel.At(); n < v.reel.Len(); n++ {
		v.reel.Seek(n)
		if err := v.show(w); err != nil {
			return err
		}
		if _, err := fmt.Fprintln(w); err != nil {
			return err
		}
	}
	return nil
}

// interact lets keys wind the reel on a terminal, which is put back as it was.
func (v *screen) interact(std *streams) error {
	fd := int(std.in.(*os.File).Fd())
	old, err := term.MakeRaw(fd)
	if err != nil {
		return err
	}
	defer term.Restore(fd, old)
	fmt.Fprint(std.out, altScreen)
	defer fmt.Fprint(std.out, mainScreen)
	return v.browse(std.in, rawLines{std.out})
}

// browse shows the position and follows keys until the last.
func (v *screen) browse(in io.Reader, out io.Writer) error {
	keys := make([]byte, 16)
	for {
		if _, err := io.WriteString(out, clearScreen); err != nil {
			return err
		}
		if err := v.show(out); err != nil {
			return err
		}
		fmt.Fprintln(out, "→ next   ← back   ↓ ↑ ten   home end   q leave")
		n, err := in.Read(keys)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		to, leave := wind(string(keys[:n]), v.reel.At(), v.reel.Len()-1)
		if leave {
			return nil
		}
		v.reel.Seek(to)
	}
}

// wind is where a key leads from position at, the last being end.
func wind(key string, at, end int) (to int, leave bool) {
	switch key {
	case "\x1b[C", "\x1bOC", " ", "n", "l", "\r":
		return at + 1, false
	case "\x1b[D", "\x1bOD", "b", "h", "\x7f":
		return at - 1, false
	case "\x1b[B", "\x1bOB", "\x1b[6~", "j":
		return at + 10, false
	case "\x1b[A", "\x1bOA", "\x1b[5~", "k":
		return at - 10, false
	case "\x1b[H", "\x1bOH", "\x1b[1~", "g":
		return 0, false
	case "\x1b[F", "\x1bOF", "\x1b[4~", "G":
		return end, false
	case "q", "\x1b", "\x03", "\x04":
		return at, true
	}
	return at, false
}

// rawLines gives lines the carriage return that a terminal in raw mode asks for.
type rawLines struct{ w io.Writer }

func (r rawLines) Write(p []byte) (int, error) {
	if _, err := io.WriteString(r.w, strings.ReplaceAll(string(p), "\n", "\r\n")); err != nil {
		return 0, err
	}
	return len(p), nil
}
