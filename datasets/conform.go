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

// transcripts are the checkers of the games whose original engines left transcripts.
var transcripts = map[string]func() *conform.Checker{
	"blockbattle": blockbattlelog.New,
	"blocking":    blockinglog.New,
	"dropblox":    dropbloxlog.New,
	"tetrisduel":  tetrisduellog.New,
}

type conformCmd struct {
	Game  string   `arg:"" help:"The game, such as blockbattle."`
	Files []string `arg:"" name:"file" help:"Transcripts: files of JSON lines, plain or compressed with gzip."`
}

func (c *conformCmd) Help() string {
	return `Replays transcripts of the original engine from their inputs and compares every other value. Prints
one line per file and the first difference in full. The exit status is 1 if a value differs or a file
cannot be read. To compare the log of a bot with its game, name the transcript of that game too.`
}

func (c *conformCmd) Run(std *streams) error {
	make, ok := transcripts[c.Game]
	if !ok {
		known := strings.Join(slices.Sorted(maps.Keys(transcripts)), ", ")
		return fmt.Errorf("no checker for transcripts of %q, want one of %s", c.Game, known)
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
