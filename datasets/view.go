package main

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"blockyard/env"
	"blockyard/env/games"

	"golang.org/x/term"
)

type viewCmd struct {
	Game    string `arg:"" name:"file#n" help:"A file of records and which of its games, counted from 1 (the first if left out)."`
	All     bool   `help:"Print every position and end, as is done anyway when the output is not a terminal."`
	From    int    `help:"Begin at this position." placeholder:"N"`
	NoColor bool   `help:"Text without colours." env:"NO_COLOR"`
}

func (c *viewCmd) Help() string {
	return `Keys: right, space, n: next position; left, b: back; down, up: ten on, ten back; home, g: the
beginning; end, G: the end; q: leave.`
}

func (c *viewCmd) Run(std *streams) error {
	file, n := c.Game, 1
	if at := strings.LastIndexByte(file, '#'); at >= 0 {
		number, err := strconv.Atoi(file[at+1:])
		if err != nil || number < 1 {
			return fmt.Errorf("%s: what follows # is to be the number of a game, from 1", file)
		}
		file, n = file[:at], number
	}
	rec, err := find(file, n)
	if err != nil {
		return err
	}
	g, err := games.Lookup(rec.Game)
	if err != nil {
		return fmt.Errorf("%s: %w", c.Game, err)
	}
	r, err := newReel(g, rec)
	if err != nil {
		return fmt.Errorf("%s: %w", c.Game, err)
	}
	v := &viewer{reel: r, name: fmt.Sprintf("%s#%d", file, n), colour: terminal(std.out) && !c.NoColor}
	r.seek(c.From)
	if c.All || !terminal(std.in) || !terminal(std.out) {
		err = v.printAll(std.out)
	} else {
		err = v.interact(std)
	}
	if err == nil && r.err != nil {
		return fmt.Errorf("%s: %w", c.Game, r.err)
	}
	return err
}

// terminal reports whether a stream is one.
func terminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// A viewer shows a reel.
type viewer struct {
	reel   *reel
	name   string
	colour bool
	frame  env.Frame
}

// show writes the position the reel is at.
func (v *viewer) show(w io.Writer) error {
	var out strings.Builder
	fmt.Fprintln(&out, v.reel.title(v.name))
	v.frame.Reset()
	v.reel.state.Show(&v.frame)
	if v.colour {
		paintFrame(&out, &v.frame)
	} else {
		out.WriteString(v.frame.String())
	}
	for _, line := range v.reel.notes() {
		fmt.Fprintln(&out, line)
	}
	_, err := io.WriteString(w, out.String())
	return err
}

// printAll writes every position from where the reel is.
func (v *viewer) printAll(w io.Writer) error {
	for n := v.reel.at; n < v.reel.len(); n++ {
		v.reel.seek(n)
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
func (v *viewer) interact(std *streams) error {
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
func (v *viewer) browse(in io.Reader, out io.Writer) error {
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
		to, leave := wind(string(keys[:n]), v.reel.at, v.reel.len()-1)
		if leave {
			return nil
		}
		v.reel.seek(to)
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
