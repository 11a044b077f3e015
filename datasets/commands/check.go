package commands

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"blockyard/datasets/program"

	"blockyard/datasets/conform"
	"blockyard/datasets/conform/blockbattlelog"
	"blockyard/datasets/conform/blockinglog"
	"blockyard/datasets/conform/dropbloxlog"
	"blockyard/datasets/conform/tetrisduellog"
	"blockyard/datasets/record"
	"blockyard/env/games"
)

// An input is the files that a command reads, in the order of the arguments.
type input struct {
	Files        []string `arg:"" name:"file" help:"Files of records, plain or compressed with gzip; - is standard input."`
	AllowPartial bool     `help:"Accept an incomplete record at the end of a file, as in a file still being written."`
	bounds
}

// bounds are the flag that bounds how much of a file is read, so that a small compressed file cannot fill the memory.
type bounds struct {
	MaxBytes int64 `default:"${max_bytes}" placeholder:"N" help:"Read at most so much of a file, in bytes uncompressed."`
}

const raise = "raise --max-bytes" // what to do if a file is longer

func (b *bounds) Validate() error {
	if b.MaxBytes < 1 {
		return fmt.Errorf("--max-bytes %d: want at least 1", b.MaxBytes)
	}
	return nil
}

func (in *input) open(file string) (*record.Reader, error) {
	r, err := record.Open(file)
	if err == nil {
		r.AllowPartial = in.AllowPartial
		r.Limit(in.MaxBytes, raise)
	}
	return r, err
}

// A checkCmd has the flags of "datasets check". Its Run replays every game and compares it with its record.
type checkCmd struct {
	input
	All bool `help:"Report every game that differs, not only the first one of each file."`
}

func (c *checkCmd) Run(std *program.Console) error {
	var found error
	for _, file := range c.Files {
		played, differ, err := c.file(std.Out, file)
		if err != nil {
			fmt.Fprintf(std.Err, "%s: %v\n", program.Called("datasets"), err)
		} else {
			fmt.Fprintf(std.Out, "%s: %d games, %d differ\n", file, played, differ)
		}
		if err != nil || differ > 0 {
			found = program.ErrFound
		}
	}
	return found
}

func (c *checkCmd) file(out io.Writer, file string) (played, differ int, err error) {
	r, err := c.open(file)
	if err != nil {
		return 0, 0, err
	}
	defer r.Close()
	for {
		_, err := record.CheckNext(r, games.Recorded)
		if errors.Is(err, io.EOF) {
			return played, differ, nil
		}
		played++
		switch {
		case err == nil:
		case !errors.Is(err, record.ErrDiffers):
			return played, differ, err
		default:
			if differ++; differ == 1 || c.All {
				fmt.Fprintf(out, "%s#%d: %v\n", file, played, err)
			}
		}
	}
}

// A repairCmd has the flags of "datasets repair". Its Run lets files end with a whole record.
type repairCmd struct {
	Files []string `arg:"" name:"file" help:"Files of records, plain or compressed with gzip."`
}

func (c *repairCmd) Run() error {
	for _, file := range c.Files {
		if _, err := os.Stat(file); err != nil {
			return err
		}
		if err := record.Appendable(file); err != nil {
			return err
		}
	}
	return nil
}

// transcripts are the checkers of the games whose original engines left transcripts.
var transcripts = map[string]func() *conform.Checker{
	"blockbattle": blockbattlelog.New,
	"blocking":    blockinglog.New,
	"dropblox":    dropbloxlog.New,
	"tetrisduel":  tetrisduellog.New,
}

// A conformCmd has the flags of "datasets conform". Its Run compares the rules with transcripts of an original engine.
type conformCmd struct {
	Game  string   `arg:"" help:"The game, such as blockbattle."`
	Files []string `arg:"" name:"file" help:"Transcripts: files of JSON lines, plain or compressed with gzip."`
	bounds
}

func (c *conformCmd) Run(std *program.Console) error {
	make, ok := transcripts[c.Game]
	if !ok {
		known := strings.Join(slices.Sorted(maps.Keys(transcripts)), ", ")
		return fmt.Errorf("no checker for transcripts of %q, want one of %s", c.Game, known)
	}
	checker := make()
	for _, file := range c.Files {
		conform.Index(checker, file, c.MaxBytes)
	}
	var found error
	for _, file := range c.Files {
		rep, err := conform.File(checker, file, c.MaxBytes)
		if rep != nil {
			fmt.Fprint(std.Out, rep)
		}
		if err != nil {
			fmt.Fprintf(std.Err, "%s: %v\n", program.Called("datasets"), err)
		}
		if err != nil || rep.Differ > 0 {
			found = program.ErrFound
		}
	}
	return found
}
