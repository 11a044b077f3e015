// Package commands is the command line of the program datasets: a file per command.
package commands

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/alecthomas/kong"

	release "blockyard/datasets/program"
	"blockyard/datasets/record/jsonl"
)

type program struct {
	release.Flag
	Check   checkCmd   `cmd:"" help:"Replay recorded games and compare their results with the records."`
	View    viewCmd    `cmd:"" help:"Show a recorded game in the terminal, or many in a web browser."`
	Stat    statCmd    `cmd:"" help:"Summarise recorded games: lengths, scores, and results by agent and seat."`
	Export  exportCmd  `cmd:"" help:"Export recorded games as Parquet shards or as a Minari dataset."`
	Conform conformCmd `cmd:"" help:"Replay transcripts of an original contest engine and compare every value."`
}

// streams are the standard streams of a command.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// errFound means that a command ran, found differences and printed them. The exit status is then 1.
var errFound = errors.New("differences were found")

// Main runs the command line of this process and returns its exit status.
func Main() int { return run(os.Args[1:], &streams{os.Stdin, os.Stdout, os.Stderr}) }

// run runs a command line and returns the exit status: 0, 1 if games differ or cannot be read, 2 if the
// arguments are wrong.
func run(args []string, std *streams) int {
	var p program
	left := -1
	name := release.Program("datasets")
	parser, err := kong.New(&p,
		kong.Name(name), release.Vars(name, release.Read()),
		kong.Description("Check, view, summarise and export recorded games, "+
			"and compare the rules with transcripts of the original engines."),
		kong.Vars{
			"max_bytes":      strconv.Itoa(jsonl.MaxBytes),
			"export_game":    "Export only the games of this name. By default every game must be the same as the first.",
			"export_parquet": "Write Parquet shards to this folder, which must not exist.",
			"export_minari":  "Write a Minari dataset below this folder, such as ~/.minari/datasets.",
			"export_rows":    "Approximate number of rows per shard; a shard holds whole games.",
			"view_live": "With --web: watch games while clients play them, such as those of a trainer, on the server with " +
				"this address as its serve --watch.",
			"view_token": "With --live: token of the clients whose games are shown. Prefer BLOCKYARD_TOKEN, because other " +
				"users can read command lines.",
			"view_games": "File of records and number of the game, from 1 (the default). " +
				"Also a history folder. With --web: any number of files, folders of files, and history folders.",
		},
		release.Help(), kong.UsageOnError(),
		kong.Writers(std.out, std.err),
		kong.Exit(func(code int) { left = code }),
		kong.Bind(std))
	if err != nil {
		fmt.Fprintln(std.err, name+":", err)
		return 2
	}
	ctx, err := parser.Parse(args)
	if left >= 0 { // --help or --version
		return left
	}
	if err != nil {
		fmt.Fprintf(std.err, "%s: %v (see %[1]s --help)\n", name, err)
		return 2
	}
	switch err := ctx.Run(); {
	case err == nil:
		return 0
	case !errors.Is(err, errFound):
		fmt.Fprintln(std.err, name+":", err)
	}
	return 1
}
