// Package commands is the command line of the program datasets: a file per command.
package commands

import (
	"strconv"

	"github.com/alecthomas/kong"

	"blockyard/datasets/program"
	"blockyard/datasets/record/jsonl"
)

// verbs lists the commands.
type verbs struct {
	program.Flag
	Check   checkCmd   `cmd:"" help:"Replay recorded games and compare their results with the records."`
	View    viewCmd    `cmd:"" help:"Show a recorded game in the terminal, or many in a web browser."`
	Stat    statCmd    `cmd:"" help:"Summarise recorded games: lengths, scores, and results by agent and seat."`
	Export  exportCmd  `cmd:"" help:"Export recorded games as Parquet shards or as a Minari dataset."`
	Conform conformCmd `cmd:"" help:"Replay transcripts of an original contest engine and compare every value."`
}

// Main runs the command line of this process and returns its exit status.
func Main() int { return commandLine().Main() }

// commandLine is the program.
func commandLine() *program.Program {
	return &program.Program{Name: "datasets", Commands: new(verbs),
		About: "Check, view, summarise and export recorded games, " +
			"and compare the rules with transcripts of the original engines.",
		Options: []kong.Option{kong.Vars{
			"max_bytes":      strconv.Itoa(jsonl.MaxBytes),
			"export_game":    "Export only the games of this name. By default every game must be the same as the first.",
			"export_parquet": "Write Parquet shards to this folder, which must not exist.",
			"export_minari":  "Write a Minari dataset below this folder, such as ~/.minari/datasets.",
			"export_sft":     "Write text for fine-tuning of language models to this folder, which must not exist.",
			"export_rows":    "Approximate number of rows per shard; a shard holds whole games.",
			"view_live": "With --web: watch games while clients play them, such as those of a trainer, on the server with " +
				"this address as its serve --watch.",
			"view_token": "With --live: token of the clients whose games are shown. Prefer BLOCKYARD_TOKEN, because other " +
				"users can read command lines.",
			"view_games": "File of records and number of the game, from 1 (the default). " +
				"Also a history folder. With --web: any number of files, folders of files, and history folders.",
		}},
	}
}
