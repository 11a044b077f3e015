// Program datasets looks after recorded games: it replays and checks them, shows and
// counts them, and holds the rules against transcripts of the original contest engines.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/alecthomas/kong"
)

type program struct {
	Check   checkCmd   `cmd:"" help:"Replay recorded games and compare how they end."`
	View    viewCmd    `cmd:"" help:"Show a recorded game in the terminal."`
	Stat    statCmd    `cmd:"" help:"Summarise recorded games: lengths, scores, results by agent and seat."`
	Export  exportCmd  `cmd:"" help:"Write recorded games as Parquet shards or as a Minari dataset."`
	Conform conformCmd `cmd:"" help:"Replay transcripts of an original contest engine and compare every value."`
}

// streams are what a command reads and writes.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// errFound says that a command did its work and found what it is to report with exit
// status 1. It has already said so.
var errFound = errors.New("differences were found")

func main() { os.Exit(run(os.Args[1:], &streams{os.Stdin, os.Stdout, os.Stderr})) }

// run is main with everything around it given; it returns the exit status: 0, 1 if games
// differ or cannot be read, 2 if the arguments are wrong.
func run(args []string, std *streams) int {
	var p program
	left := -1
	parser, err := kong.New(&p,
		kong.Name("datasets"),
		kong.Description("Recorded games: check, view, summarise, export; and the original engines' transcripts."),
		kong.UsageOnError(),
		kong.Writers(std.out, std.err),
		kong.Exit(func(code int) { left = code }),
		kong.Bind(std))
	if err != nil {
		fmt.Fprintln(std.err, "datasets:", err)
		return 2
	}
	ctx, err := parser.Parse(args)
	if left >= 0 { // --help
		return left
	}
	if err != nil {
		fmt.Fprintf(std.err, "datasets: %v (see datasets --help)\n", err)
		return 2
	}
	switch err := ctx.Run(); {
	case err == nil:
		return 0
	case !errors.Is(err, errFound):
		fmt.Fprintln(std.err, "datasets:", err)
	}
	return 1
}
