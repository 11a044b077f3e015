package commands

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"blockyard/agents/match"
	"blockyard/datasets/program/provenance"
	"blockyard/datasets/record"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// A console is what a command reads and writes. Run methods may ask for it.
type console struct {
	in       io.Reader
	out, err io.Writer
}

// An output says what a command that plays many games leaves behind besides its result.
type output struct {
	record string // file for the records of the games; empty for none
	log    string // folder of logs; empty for none
	seed   string // of all games
	quiet  bool   // no progress bar
}

// playGames calls play with the file of records, nil if none is wanted, and with a progress bar up to total games.
// play returns how many games it has completed. The file is kept if there is at least one, or no error; otherwise it
// is removed. run.json says how the records and logs were made. The end of ctx is no error.
func (con *console) playGames(ctx context.Context, o output, total int,
	play func(*record.Writer, progress) (int, error)) error {
	made := provenance.Begin("agents", o.seed)
	var file *record.Writer
	if o.record != "" {
		var err error
		if file, err = record.Create(o.record); err != nil {
			return err
		}
		defer file.Discard()
	}
	bar := con.progress(o.quiet, total, "games")
	defer bar.close()
	games, err := play(file, bar)
	if file != nil && (err == nil || games > 0) {
		if e := errors.Join(file.Close(), made.WriteBeside(o.record)); e != nil {
			return e
		}
	}
	if o.log != "" && games > 0 {
		if e := made.Close(o.log); e != nil {
			return e
		}
	}
	if ctx.Err() != nil && match.Stopped(err) {
		return nil
	}
	return err
}

// print writes a result as one line of JSON or as text.
func (con *console) print(asJSON bool, result fmt.Stringer) error {
	if asJSON {
		return json.NewEncoder(con.out).Encode(result)
	}
	_, err := io.WriteString(con.out, result.String())
	return err
}

// A progress is a progress bar on standard error.
type progress struct{ *progressbar.ProgressBar }

// progress starts a progress bar up to total units, such as "games". It shows nothing if quiet is set or standard
// error is not a terminal.
func (con *console) progress(quiet bool, total int, unit string) progress {
	return progress{progressbar.NewOptions(total,
		progressbar.OptionSetVisibility(!quiet && terminal(con.err)),
		progressbar.OptionSetWriter(con.err),
		progressbar.OptionShowCount(), progressbar.OptionShowIts(), progressbar.OptionSetItsString(unit),
		progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish(),
		progressbar.OptionSetPredictTime(true), progressbar.OptionFullWidth(),
	)}
}

// set shows that n units are done.
func (p progress) set(n int) { _ = p.Set(n) }

// describe shows a text before the bar.
func (p progress) describe(format string, args ...any) { p.Describe(fmt.Sprintf(format, args...)) }

// show is describe and set.
func (p progress) show(n int, text string) {
	p.Describe(text)
	p.set(n)
}

// close removes the bar.
func (p progress) close() { _ = p.Finish() }

// terminal reports whether a stream is a terminal.
func terminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
