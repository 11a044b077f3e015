package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"blockyard/agents/match"
	"blockyard/agents/registry"
	"blockyard/datasets/record"
	"blockyard/env"
	"blockyard/env/games"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

type arenaCmd struct {
	Game    string `arg:"" help:"Name of the game, such as blockbattle or blockbattle:classic."`
	A       string `required:"" placeholder:"PLAYER" help:"First player; the score is its score."`
	B       string `placeholder:"PLAYER" help:"Second player; a game of one seat can do without."`
	Games   int    `default:"400" help:"Games to play, an even number: they come in pairs of equal seed, seats swapped; in a game of one seat, so many of each player. Default ${default}."`
	Seats   int    `help:"How many play, where the game leaves a choice. Above 2, A has one seat and B all others; games come in sets in which A has every seat once."`
	Seed    uint64 `default:"1" help:"Seed of the whole match. Default ${default}."`
	SPRT    string `name:"sprt" placeholder:"ELO0,ELO1[,ALPHA,BETA]" help:"Stop as soon as a sequential test decides between these two Elo differences; errors of 0.05 each unless told."`
	Workers int    `help:"Games played at once; by default one a core. The result does not depend on it."`
	Record  string `placeholder:"FILE" help:"Write every game to this file, compressed if it ends in .gz."`
	JSON    bool   `name:"json" help:"Print one line of JSON and nothing else."`
	Quiet   bool   `short:"q" help:"No progress bar on standard error."`
	soloFlags
}

// Help tells more about the command.
func (*arenaCmd) Help() string {
	return `The pair of games is the unit of the statistics: the 95 % interval comes from the
spread of the pairs' scores. With more than two seats what counts is A's mean rank, 1 being
the best, and the unit is the set of games in which A has every seat once. Ctrl-C ends the match with the pairs played so far.

In a game of one seat both play the same seeds, each alone, and the seed is the unit. Where
games are stopped by --cap or --steps, the mean score says less than the score per end.`
}

// Run plays the match and prints what it came to.
func (c *arenaCmd) Run(ctx context.Context, con *console) error {
	if c.oneSeat() {
		return c.solo(ctx, con)
	}
	if c.B == "" {
		return usage{errors.New("missing flags: --b=PLAYER")}
	}
	if c.Cap != 0 || c.soloFlags.Steps != 0 {
		return usage{fmt.Errorf("--cap and --steps are for games of one seat, %s has more", c.Game)}
	}
	if c.Seats > 2 {
		return c.ring(ctx, con)
	}
	t, err := c.table()
	if err != nil {
		return usage{err}
	}
	save := func() error { return nil }
	if c.Record != "" {
		w, err := record.Create(c.Record)
		if err != nil {
			return err
		}
		defer w.Discard()
		t.Record, save = w.Write, w.Close
	}
	if !c.Quiet && terminal(con.err) {
		bar := newBar(con.err, 2*t.Pairs, "games")
		t.Progress = func(r match.Result) {
			bar.Describe(fmt.Sprintf("score %.1f %%", 100*r.Pairs.Score()))
			_ = bar.Set(r.Games())
		}
		defer func() { _ = bar.Finish() }()
	}
	res, err := t.Play(ctx)
	if err == nil || res.Games() > 0 {
		if e := save(); e != nil {
			return e
		}
	}
	if err != nil {
		return err
	}
	return c.print(con.out, t, res, ctx.Err() != nil)
}

// table is the match that was asked for.
func (c *arenaCmd) table() (match.Table, error) {
	t := match.Table{Seed: c.Seed, Pairs: c.Games / 2, Workers: c.Workers}
	if c.Games < 2 || c.Games%2 != 0 {
		return t, fmt.Errorf("--games %d: games come in pairs: want an even number from 2", c.Games)
	}
	if c.Workers < 0 {
		return t, fmt.Errorf("--workers %d: want a number from 1, or 0 for one a core", c.Workers)
	}
	if c.Workers == 0 {
		t.Workers = runtime.GOMAXPROCS(0)
	}
	var err error
	if t.Rules, err = games.Lookup(c.Game); err != nil {
		return t, err
	}
	if t.A, err = player(t.Rules, c.A); err != nil {
		return t, err
	}
	if t.B, err = player(t.Rules, c.B); err != nil {
		return t, err
	}
	if c.SPRT != "" {
		t.SPRT, err = parseSPRT(c.SPRT)
	}
	return t, err
}

// player reads a spec as a player of a match.
func player(g *env.Game, text string) (match.Player, error) {
	f, err := registry.Parse(g, text)
	return match.Player{Name: text, New: f}, err
}

// parseSPRT reads "ELO0,ELO1" or "ELO0,ELO1,ALPHA,BETA".
func parseSPRT(text string) (*match.SPRT, error) {
	t := &match.SPRT{Alpha: 0.05, Beta: 0.05}
	into := []*float64{&t.Elo0, &t.Elo1, &t.Alpha, &t.Beta}
	parts := strings.Split(text, ",")
	if len(parts) != 2 && len(parts) != 4 {
		return nil, fmt.Errorf("--sprt %q: want ELO0,ELO1 or ELO0,ELO1,ALPHA,BETA", text)
	}
	for i, p := range parts {
		v, err := strconv.ParseFloat(strings.TrimSpace(p), 64)
		if err != nil {
			return nil, fmt.Errorf("--sprt %q: %q is not a number", text, p)
		}
		*into[i] = v
	}
	if err := t.Check(); err != nil {
		return nil, fmt.Errorf("--sprt %q: %w", text, err)
	}
	return t, nil
}

// A summary is what a match came to, as JSON. Elo numbers stay within what that many
// games can tell, so that they are finite.
type summary struct {
	Game    string      `json:"game"`
	A       string      `json:"a"`
	B       string      `json:"b"`
	Seed    uint64      `json:"seed"`
	Games   int         `json:"games"`
	Wins    int         `json:"wins"`
	Draws   int         `json:"draws"`
	Losses  int         `json:"losses"`
	Score   float64     `json:"score"` // wins and half the draws, as a fraction
	Low     float64     `json:"low"`   // 95 % interval of the score
	High    float64     `json:"high"`
	Elo     float64     `json:"elo"`
	EloLow  float64     `json:"elo_low"`
	EloHigh float64     `json:"elo_high"`
	Pairs   match.Pairs `json:"pairs"` // by half points won in the two games
	LLR     *float64    `json:"llr,omitempty"`
	SPRT    string      `json:"sprt,omitempty"` // undecided, H0 or H1
	Stopped bool        `json:"stopped,omitempty"`
}

func (c *arenaCmd) print(w io.Writer, t match.Table, r match.Result, stopped bool) error {
	low, high := r.Pairs.Interval()
	n := r.Games()
	s := summary{
		Game: t.Rules.Name, A: t.A.Name, B: t.B.Name, Seed: t.Seed,
		Games: n, Wins: r.Wins, Draws: r.Draws, Losses: r.Losses,
		Score: r.Pairs.Score(), Low: low, High: high,
		Elo: match.EloWithin(r.Pairs.Score(), n), EloLow: match.EloWithin(low, n), EloHigh: match.EloWithin(high, n),
		Pairs: r.Pairs, Stopped: stopped,
	}
	if t.SPRT != nil {
		llr := t.SPRT.LLR(r.Pairs)
		s.LLR, s.SPRT = &llr, r.Verdict.String()
	}
	if c.JSON {
		return json.NewEncoder(w).Encode(s)
	}
	return s.write(w, t.SPRT)
}

// write prints s for people.
func (s *summary) write(w io.Writer, test *match.SPRT) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s against %s, seed %d\n", s.Game, s.A, s.B, s.Seed)
	if s.Stopped {
		b.WriteString("stopped early\n")
	}
	fmt.Fprintf(&b, "games   %d: %d wins, %d draws, %d losses\n", s.Games, s.Wins, s.Draws, s.Losses)
	fmt.Fprintf(&b, "pairs   %d lost, %d at ½, %d at 1, %d at 1½, %d won\n", s.Pairs[0], s.Pairs[1], s.Pairs[2], s.Pairs[3], s.Pairs[4])
	fmt.Fprintf(&b, "score   %.2f %%, 95 %% interval %.2f to %.2f\n", 100*s.Score, 100*s.Low, 100*s.High)
	fmt.Fprintf(&b, "Elo     %+.0f, 95 %% interval %+.0f to %+.0f\n", s.Elo, s.EloLow, s.EloHigh)
	if test != nil {
		lower, upper := test.Bounds()
		fmt.Fprintf(&b, "SPRT    Elo %g against %g: LLR %+.2f in [%.2f, %.2f]: %s\n", test.Elo0, test.Elo1, *s.LLR, lower, upper, s.SPRT)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// newBar is a progress bar.
func newBar(w io.Writer, n int, unit string) *progressbar.ProgressBar {
	return progressbar.NewOptions(n,
		progressbar.OptionSetWriter(w),
		progressbar.OptionShowCount(), progressbar.OptionShowIts(), progressbar.OptionSetItsString(unit),
		progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish(),
		progressbar.OptionSetPredictTime(true), progressbar.OptionFullWidth(),
	)
}

// terminal reports whether w is one.
func terminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
