package program

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"blockyard/env/ansi"
)

// A Console is what a command reads and writes. Of a command that runs, Out and Err are ansi.Writers.
type Console struct {
	In       io.Reader
	Out, Err io.Writer
}

func (con *Console) plain() *Console {
	return &Console{con.In, &ansi.Writer{To: con.Out}, &ansi.Writer{To: con.Err}}
}

// An output is the standard output. It keeps the first error, because many commands print without looking at errors.
type output struct {
	file   *os.File
	failed atomic.Pointer[error]
}

func (o *output) Fd() uintptr { return o.file.Fd() }

func (o *output) Write(b []byte) (int, error) {
	n, err := o.file.Write(b)
	if err != nil {
		o.failed.CompareAndSwap(nil, &err)
	}
	return n, err
}

// Print writes a result to Out: one line of JSON, or the text of its String.
func (con *Console) Print(asJSON bool, result fmt.Stringer) error {
	if asJSON {
		return json.NewEncoder(con.Out).Encode(result)
	}
	_, err := io.WriteString(con.Out, result.String())
	return err
}

// Progress starts a progress bar on the standard error; see NewBar.
func (con *Console) Progress(quiet bool, total int, unit string) Bar {
	return NewBar(con.Err, quiet, total, unit)
}

// Terminal reports whether a stream is an open terminal, at which a person may sit.
func Terminal(stream any) bool {
	f, ok := stream.(interface{ Fd() uintptr })
	return ok && term.IsTerminal(int(f.Fd()))
}

// Raw returns an output for a terminal in raw mode: it adds the carriage returns that it needs.
func Raw(out io.Writer) io.Writer { return &ansi.Writer{To: raw{ansi.Styled(out)}} }

// A raw adds a carriage return to every line end.
type raw struct{ to io.Writer }

func (r raw) Write(b []byte) (int, error) {
	_, err := io.WriteString(r.to, strings.ReplaceAll(string(b), "\n", "\r\n"))
	return len(b), err
}

// Until reads in until ctx has ended, also while in waits, and then returns the error end; nil is io.EOF.
func Until(ctx context.Context, in io.Reader, end error) io.ReadCloser {
	read, write := io.Pipe()
	go func() {
		_, err := io.Copy(write, in)
		_ = write.CloseWithError(err)
	}()
	context.AfterFunc(ctx, func() { _ = write.CloseWithError(end) })
	return read
}

// A Bar is a progress bar on standard error; see Console.Bar.
type Bar struct {
	*progressbar.ProgressBar
	out  io.Writer
	rest int // columns beside a text
}

// NewBar starts a progress bar up to total units, such as "games" or "bytes"; total is -1 or 0 if it is not known.
// Without a unit, the bar shows the share alone. It shows nothing if quiet is set or out is not a terminal. It is drawn
// twice a second until Close, whatever its user does.
func NewBar(out io.Writer, quiet bool, total int, unit string) Bar {
	options := []progressbar.Option{
		progressbar.OptionSetVisibility(!quiet && Terminal(out)), progressbar.OptionSetWriter(ansi.Styled(out)),
		progressbar.OptionThrottle(100 * time.Millisecond), progressbar.OptionClearOnFinish(),
		progressbar.OptionSetPredictTime(true), progressbar.OptionFullWidth(),
		progressbar.OptionSetSpinnerChangeInterval(500 * time.Millisecond),
	}
	switch unit {
	case "":
	case "bytes":
		options = append(options, progressbar.OptionShowBytes(true))
	default:
		options = append(options,
			progressbar.OptionShowCount(), progressbar.OptionShowIts(), progressbar.OptionSetItsString(unit))
	}
	rest := 36 // share, a short bar, times
	if total <= 0 {
		rest = 18 // a time
	}
	if unit != "" {
		rest += len("(/, 9999 /s)") + 2*len(strconv.Itoa(total)) + len(unit)
	}
	b := Bar{progressbar.NewOptions(-1, options...), out, rest}
	b.StartWithoutRender() // a bar without an end is drawn again and again, and goes on so when it gets one
	if total > 0 {
		b.ChangeMax(total)
	}
	return b
}

// Line removes the bar and writes a line; the bar is drawn again below it.
func (b Bar) Line(format string, a ...any) {
	_ = b.Clear() // a terminal that cannot be written to
	fmt.Fprintf(&ansi.Writer{To: b.out}, format+"\n", a...)
}

// Set shows that n units are done. It ignores errors of a terminal that cannot be written to.
func (b Bar) Set(n int) { _ = b.ProgressBar.Set(n) }

// Describe shows a text before the bar, without control characters, as far as one line of the terminal has room.
func (b Bar) Describe(text string) {
	width := 80
	if f, ok := ansi.Styled(b.out).(*os.File); ok {
		if w, _, err := term.GetSize(int(f.Fd())); err == nil {
			width = w
		}
	}
	b.ProgressBar.Describe(ansi.Plain(text, max(0, width-b.rest-1)))
}

// Describef shows a text before the bar, formatted as by fmt.Sprintf.
func (b Bar) Describef(format string, args ...any) { b.Describe(fmt.Sprintf(format, args...)) }

// Show is Describe and Set: a text, and n units done.
func (b Bar) Show(n int, text string) {
	b.Describe(text)
	b.Set(n)
}

// Close removes the bar, so that other lines can follow.
func (b Bar) Close() { _ = b.Finish() }
