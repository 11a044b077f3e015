package main

import (
	"errors"
	"fmt"
	"io"

	"blockyard/datasets/record"
	"blockyard/env/games"
)

type checkCmd struct {
	Files        []string `arg:"" name:"file" help:"Files of records, plain or gzip; - is standard input."`
	AllowPartial bool     `help:"Let a record cut short at the end of a file pass, as in one still being written."`
	All          bool     `help:"Report every game that differs, not only the first of a file."`
}

func (c *checkCmd) Help() string {
	return `Every game is played again from its seed (or its recorded draws) and its choices. It must be of
the rules in force, every choice must be legal, and scores and results must come out as recorded.
Prints one line a file; the exit status is 1 if a game differs or a file cannot be read.`
}

func (c *checkCmd) Run(std *streams) error {
	var found error
	for _, file := range c.Files {
		if err := c.file(std, file); err != nil {
			found = errFound
		}
	}
	return found
}

// file checks one file and says what it found.
func (c *checkCmd) file(out *streams, file string) error {
	r, err := record.Open(file)
	if err != nil {
		fmt.Fprintln(out.err, "datasets:", err)
		return err
	}
	defer r.Close()
	r.AllowPartial = c.AllowPartial
	played, differ := 0, 0
	for {
		_, err := record.CheckNext(r, games.Lookup)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil && !errors.Is(err, record.ErrDiffers) {
			fmt.Fprintln(out.err, "datasets:", err)
			return err
		}
		played++
		if err != nil {
			if differ++; differ == 1 || c.All {
				fmt.Fprintf(out.out, "%s#%d: %v\n", file, played, err)
			}
		}
	}
	fmt.Fprintf(out.out, "%s: %d games, %d differ\n", file, played, differ)
	if differ > 0 {
		return errFound
	}
	return nil
}
