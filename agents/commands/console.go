package commands

import (
	"context"
	"errors"
	"fmt"

	"blockyard/agents/match"
	"blockyard/datasets/program"
	"blockyard/datasets/record"
)

// A console is what a command reads and writes. Run methods may ask for it.
type console = program.Console

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
func playGames(ctx context.Context, con *console, o output, total int,
	play func(*record.Writer, program.Bar) (int, error)) error {
	made := program.Begin("agents", o.seed)
	var file *record.Writer
	if o.record != "" {
		var err error
		if file, err = record.Create(o.record); err != nil {
			return err
		}
		defer file.Discard()
	}
	bar := con.Progress(o.quiet, total, "games")
	defer bar.Close()
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
	if o.log != "" && o.record == "" && !o.quiet {
		fmt.Fprintln(con.Err, "logs are for reading; --record FILE writes games for agents analyze and datasets view")
	}
	if ctx.Err() != nil && match.Stopped(err) {
		return nil
	}
	return err
}
