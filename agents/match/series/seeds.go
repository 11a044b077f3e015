package series

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"blockyard/agents/contest/dropblox"
	"blockyard/agents/contest/dropblox/programs"
	"blockyard/agents/match"
	"blockyard/datasets/record"
)

// Seeds is a number of games: every program plays every seed.
type Seeds struct {
	Programs []*programs.Program
	Seeds    []string
	Clock    time.Duration // of a game
	Turns    int           // limit of a game; 0 is none
	Points   int           // score at which a game ends; 0 is none
	Workers  int           // games at the same time
	LogDir   string        // folder for a log of each game; "" for none
	History  string        // folder for the games' folders; "" for none

	Record *record.Writer                // gets every game, an unfinished one included; may be nil
	Done   func(games int)               // called after every game
	Tell   func(format string, a ...any) // says how the games get on; may be called at any time

	results [][]*Game // [seed][program]; nil if it was not played to its end
}

// A Game is one program's game of one seed.
type Game struct {
	Seed   string          `json:"seed"`
	Bot    int             `json:"bot"`
	Score  int             `json:"score"`
	Turns  int             `json:"turns"`
	Reason dropblox.Reason `json:"reason"`
	Fault  string          `json:"fault,omitempty"` // why it failed
	// Seconds of the clock until Seeds.Points were reached; nil if they were not.
	Seconds *float64 `json:"seconds,omitempty"`
	Times
}

// An attempt is a game with its record, or, if it did not end, with the record alone.
type attempt struct {
	game *Game
	rec  *record.Record
}

// Play plays the games, seed by seed, and returns how many of them are in Record. It ends
// with ctx, without an error; the report then is about the games that ended.
func (t *Seeds) Play(ctx context.Context) (kept int, err error) {
	n := len(t.Programs)
	t.results = make([][]*Game, len(t.Seeds))
	for i := range t.results {
		t.results[i] = make([]*Game, n)
	}
	played := 0
	play := func(ctx context.Context, i int) (attempt, error) { return t.game(ctx, i/n, i%n) }
	i := 0
	for a, err := range match.InOrder(ctx, t.Workers, len(t.Seeds)*n, play) {
		if err != nil {
			return kept, err
		}
		if a.rec != nil {
			kept++
			if err := t.Record.Write(a.rec); err != nil {
				return kept, err
			}
		}
		if t.results[i/n][i%n] = a.game; a.game != nil {
			played++
			t.Done(played)
		}
		i++
	}
	return kept, nil
}

// game plays a seed with a program. The error is not the program's: what is wrong with that
// goes into the game's result.
func (t *Seeds) game(ctx context.Context, seed, bot int) (a attempt, err error) {
	if ctx.Err() != nil {
		return a, nil
	}
	id := fmt.Sprintf("%s%d", Letter(bot), seed+1)
	program := *t.Programs[bot]
	g := dropblox.LocalGame{ID: id, Seed: t.Seeds[seed], Clock: t.Clock, Folders: t.History}
	g.Program, g.Turns, g.Points = &program, t.Turns, t.Points
	g.Each = func(r dropblox.Result) {
		t.Tell("%s, seed %.12s: turn %d, %d points", Letter(bot), t.Seeds[seed], r.Turns, r.Score)
	}
	log, err := CreateLog(t.LogDir, id)
	if err != nil {
		return a, err
	}
	if log != nil {
		defer log.Close()
		tell, used := g.Each, time.Duration(0)
		g.Each = func(r dropblox.Result) {
			fmt.Fprintf(log, "answer_ms: %.3f\n", 1000*(r.Used-used).Seconds())
			used = r.Used
			tell(r)
		}
		g.Console, program.Errors = &dropblox.Console{W: log}, log
	}
	r, rec, err := g.Play(ctx)
	if err == nil {
		g.Console.Results(r)
	}
	if t.Record != nil && rec != nil {
		var e error
		if a.rec, e = rec.End(r.Reason); e != nil {
			return a, e
		}
	}
	switch {
	case ctx.Err() != nil && r.Reason == dropblox.Stopped:
		return a, nil
	case err != nil && (rec == nil || r.Reason != dropblox.Failed):
		return a, err
	}
	a.game = &Game{Seed: t.Seeds[seed], Bot: bot, Score: r.Score, Turns: r.Turns, Reason: r.Reason}
	if r.Reason == dropblox.Points {
		used := (t.Clock - r.Left).Seconds()
		a.game.Seconds = &used
	}
	a.game.Times = TimesOf(r.Used, r.Longest, r.Turns)
	if err != nil {
		a.game.Fault = err.Error()
	}
	return a, nil
}

// Seconds reads the time of a game in seconds, more than 0 and at most a million.
func Seconds(text string) (time.Duration, error) {
	s, err := strconv.ParseFloat(text, 64)
	if err != nil || !(s > 0 && s <= 1e6) {
		return 0, fmt.Errorf("--seconds %.40s: want more than 0, at most a million", text)
	}
	return time.Duration(s * float64(time.Second)), nil
}
