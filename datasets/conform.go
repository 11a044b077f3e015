package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"blockyard/datasets/conform"
	"blockyard/datasets/conform/blockbattlelog"
	"blockyard/datasets/conform/blockinglog"
	"blockyard/datasets/conform/dropbloxlog"
	"blockyard/datasets/conform/tetrisduellog"
)

// transcripts are the games whose original engines left transcripts.
var transcripts = map[string]func() *conform.Checker{
	"blockbattle": blockbattlelog.New,
	"blocking":    blockinglog.New,
	"dropblox":    dropbloxlog.New,
	"tetrisduel":  tetrisduellog.New,
}

type conformCmd struct {
	Game  string   `arg:"" help:"The game, such as blockbattle."`
	Files []string `arg:"" name:"file" help:"Transcripts, JSON lines, plain or gzip; what each line is is seen from its keys."`
}

func (c *conformCmd) Help() string {
	return `Transcripts are replayed by the rules they were recorded with: their inputs are played, every other
value is compared. Prints one line a file and the first difference in full; the exit status is 1 if
anything differs or a file cannot be read. A log of a bot's dialogue is compared in every detail if
the transcript of its game is among the files.`
}

func (c *conformCmd) Run(std *streams) error {
	make, ok := transcripts[c.Game]
	if !ok {
		known := strings.Join(slices.Sorted(maps.Keys(transcripts)), ", ")
		return fmt.Errorf("no transcripts of %q are known; there are those of %s", c.Game, known)
	}
	checker := make()
	for _, file := range c.Files {
		if file != "-" {
			conform.Index(checker, file)
		}
	}
	var found error
	for _, file := range c.Files {
		rep, err := conform.File(checker, file)
		if rep != nil {
			fmt.Fprint(std.out, rep)
		}
		if err != nil {
			fmt.Fprintln(std.err, "datasets:", err)
			found = errFound
		} else if rep.Differ > 0 {
			found = errFound
		}
	}
	return found
}
