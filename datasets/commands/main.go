// Package commands is the command line of the program datasets: a file per command.
package commands

import (
	"embed"
	"strconv"

	"github.com/alecthomas/kong"

	"blockyard/datasets/program"
	"blockyard/datasets/record/jsonl"
)

// verbs are the commands of the program, each with its flags, in the order of the help.
type verbs struct {
	program.Flag
	Check   checkCmd   `cmd:"" help:"Replay recorded games and compare their results."`
	View    viewCmd    `cmd:"" help:"Show recorded games in the terminal or a web browser."`
	Repair  repairCmd  `cmd:"" help:"Remove incomplete records at the ends of files."`
	Stat    statCmd    `cmd:"" help:"Summarise recorded games: lengths, scores and results."`
	Export  exportCmd  `cmd:"" help:"Export recorded games as Parquet, Minari or text."`
	Conform conformCmd `cmd:"" help:"Replay transcripts of a contest's own engine and compare."`
}

//go:embed flags.toml
var flagTexts string

//go:embed help
var help embed.FS

// Main runs the command line of this process and returns its exit status.
func Main() int { return Program().Main() }

// Program returns the command line "datasets", ready to run.
func Program() *program.Program {
	return &program.Program{Name: "datasets", Commands: new(verbs),
		About: "Check, view, summarise and export recorded games.\n" +
			"And compare the rules with transcripts of the original engines.",
		Options: []kong.Option{
			kong.Vars{"max_bytes": strconv.Itoa(jsonl.MaxBytes)}, program.Texts(flagTexts), program.Longer(help),
		},
	}
}
