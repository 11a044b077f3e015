// Package tournament plays a tournament between programs of one contest.
//
// Every entrant first plays a test game. One that does not start, never answers, ends early or answers nonsense does
// not take part, and the table says why. The others play by a Format, round robin or Swiss; every game has a seed of
// its own, and the entrants change seats. In games of two seats, the best four may then play semi-finals and finals.
//
// Every finished game is a line of the journal, written through to the disk. A tournament that was interrupted, also by
// kill -9, continues after the last game of its journal: which games there are follows from the entrants, the
// format, the seed and the results so far. A game counts only if its record proves the result that the journal notes.
//
// A ladder is a round robin of agents and programs that the user trusts: it has a journal, but neither test games nor
// records. All games of a round have the same seed. What the two decide differently is a policy: see ladder.go.
//
// A League is a tournament that goes on: its entrants come and go while games are played, and the games that tell most
// come next (pairing). Try plays a candidate against those that it keeps.
package tournament

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"blockyard/agents/bots"
	"blockyard/agents/contest"
	"blockyard/agents/contest/cage"
	"blockyard/agents/contest/compile"
	"blockyard/agents/contest/dropblox"
	"blockyard/agents/match"
	"blockyard/agents/match/series"
	"blockyard/datasets/record"
	"blockyard/env"
	"blockyard/env/ansi"
)

// An Entrant is a program that takes part, or wants to.
type Entrant struct {
	Name        string `json:"name"`
	Language    string `json:"language"`          // or "agent" or "command"
	Agent       string `json:"agent,omitempty"`   // its name in records
	Fingerprint string `json:"print"`             // identifies the program: its command or the hash of its submission
	Refused     string `json:"refused,omitempty"` // why it does not take part
	Dialect     string `json:"dialect,omitempty"` // of the protocol, as the test has found
	Output      string `json:"output,omitempty"`  // of its compiler, or the last lines of its standard error

	// Of a league, which keeps every version of an entrant.
	Of      string   `json:"of,omitempty"`      // the name of its first version
	From    string   `json:"from,omitempty"`    // its file or folder in the league's, or its name in league.toml
	Since   int64    `json:"since,omitempty"`   // when it was first seen, in seconds since 1970
	Left    bool     `json:"left,omitempty"`    // it plays no more
	Tried   string   `json:"tried,omitempty"`   // of a candidate: its fingerprint then
	Verdict string   `json:"verdict,omitempty"` // of a candidate: kept or rejected
	Against []string `json:"against,omitempty"` // of a candidate: those that its last test is about

	Program   contest.Program `json:"-"`
	from      *bots.Agent
	into      string // folder of its build
	doing     string // of a league: what is done to make it ready, "" at the end
	tested    bool   // of a league: it has passed the test
	vain      bool   // of a league: no game was played, or can be, with this version
	contained bool   // by contain
}

// absence says why an entrant of a league plays no more, "" if it does.
func (e *Entrant) absence() string {
	switch {
	case !e.Left:
		return ""
	case e.Tried != "" && e.Verdict != Kept:
		return cmp.Or(e.Verdict, Undecided)
	}
	return "left"
}

// Player returns the program of an entrant with its names, for a game.
func (e *Entrant) Player() contest.Player {
	p := contest.Player{Program: e.Program, Name: e.Name, Agent: e.Agent}
	p.Dialect = cmp.Or(p.Dialect, e.Dialect)
	return p
}

// Ours returns the agent that an entrant is, with its spec, unless it is a program.
func (e *Entrant) Ours() (p match.Player, ours bool) {
	return match.Player{Name: e.Agent, Spec: e.from.Spec}, e.from.Kind == bots.Ours
}

// refuse notes why an entrant does not take part, and what it has written.
func (e *Entrant) refuse(why, output string) {
	if e.Refused = ansi.Plain(why, mostReason); !strings.HasSuffix(e.Refused, compile.Page) {
		e.Refused += "; see " + compile.Page
	}
	var text strings.Builder
	_, _ = io.WriteString(&ansi.Writer{To: &text}, output) // a Builder takes everything
	e.Output = text.String()
}

// which returns the numbers of the entrants that suit.
func which(entrants []*Entrant, suits func(k int, e *Entrant) bool) (in []int) {
	for k, e := range entrants {
		if suits(k, e) {
			in = append(in, k)
		}
	}
	return in
}

func takingPart(entrants []*Entrant) []int {
	return which(entrants, func(_ int, e *Entrant) bool { return e.Refused == "" })
}

func final(p match.Played) bool {
	return slices.Contains([]string{"semi-final", "third place", "final"}, p.Stage)
}

// A Config is what decides the games of a tournament. Its folder keeps it, and refuses to go on with another one.
type Config struct {
	Rules   *env.Game `json:"-"`
	Format  Format    `json:"format"`
	Seats   int       `json:"seats"`       // of a game
	Games   int       `json:"games"`       // of a meeting of the same entrants
	Rounds  int       `json:"rounds"`      // 0 chooses by the number of entrants
	Repeats int       `json:"-"`           // rounds of a Ladder, which may go on with more than before
	Finals  int       `json:"finals"`      // games of each meeting of the finals; 0 for no finals
	Seed    uint64    `json:"seed,string"` // of the whole tournament
	Workers int       `json:"-"`           // games at the same time
	Isolate cage.Mode `json:"-"`           // how the programs of others are contained, for reports; "" if there are none
}

// A Tournament is a tournament in progress, which several runs of a program may continue.
type Tournament struct {
	Config
	Entrants []*Entrant
	Runner   match.Runner // the number of a player is that of its entrant
	Journal  *Journal
	Changed  func(t *Tournament) error // before the first game, after every one and at the end
	// Test plays a game with an entrant that is ready. If it finds something wrong, Refused says so.
	Test func(ctx context.Context, e *Entrant) error

	Uploads  bool   // its page takes uploads
	Testing  string // how far the tests of the entrants are, before the first game
	Played   []match.Played
	Expected int                   // games, as far as is known
	Over     bool                  // all games were played
	replays  int                   // games of which the page has the replay, if they have one
	shown    atomic.Pointer[view]  // the page, which does not change: another one takes its place
	weighed  int                   // games of which influences are known
	weights  []influence           // computed again when there are more games by a twentieth, or at the end
	Stopped  bool                  // Play has returned before all games were played
	next     func() []match.Played // the games that come next, where the plan does not say it
}

// Play plays the games that are missing. It returns nil when the tournament is over, and calls Changed at the end in
// any case.
func (t *Tournament) Play(ctx context.Context) error {
	err := t.play(ctx)
	t.Over = err == nil && (t.Format != Ongoing || t.Expected > 0 && len(t.Played) >= t.Expected)
	t.Stopped = !t.Over
	return errors.Join(err, t.Changed(t))
}

func (t *Tournament) play(ctx context.Context) error {
	t.Played, t.Testing = t.Journal.Played, ""
	if t.next == nil {
		if err := t.planned(); err != nil {
			return err
		}
	}
	if err := t.Changed(t); err != nil { // a page without games
		return err
	}
	return match.Run(ctx, t.Workers, t.Runner, t.next, t.keep)
}

// planned lets the games of the plan come next.
func (t *Tournament) planned() error {
	in := takingPart(t.Entrants)
	if least := max(2, t.Seats); len(in) < least {
		return fmt.Errorf("%d of %d entrants passed the test, want at least %d: the table says why",
			len(in), len(t.Entrants), least)
	}
	plan := &plan{&t.Config, in}
	t.Expected = plan.expected(t.Played)
	t.next = func() []match.Played { return plan.next(t.Played) }
	return nil
}

func (t *Tournament) keep(g *match.Played, rec *record.Record, err error) error {
	if err == nil {
		err = t.Journal.Add(g, rec)
	}
	if err == nil {
		err = t.Journal.verify(g, &t.Config, t.Entrants)
	}
	if err != nil {
		return err
	}
	g.Tallies = nil // they are not in the journal
	t.Played = append(t.Played, *g)
	return t.Changed(t)
}

// testTurns is how many turns the test of an entrant has at most where it is started for each.
const testTurns = 3

// TestTurns plays a few turns of a game with this clock: the entrant must end in time and write at least one command.
func TestTurns(ctx context.Context, clock time.Duration, e *Entrant) error {
	game, err := dropblox.NewLocal("1", clock)
	if err != nil {
		return err
	}
	words, commands, foreign := &contest.Tail{}, 0, ""
	program := dropblox.Program{Program: e.Program, Name: e.Name}
	program.Errors = words
	program.Foreign = func(line string) { foreign = line }
	for range testTurns {
		now := game.Status()
		limit := now.Left - dropblox.Margin
		t, err := program.Turn(ctx, now.State, limit)
		why := ""
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			why = "does not start: " + err.Error()
		case t.Ending == dropblox.Late:
			why = fmt.Sprintf("does not end within the time of a turn (%v)", limit.Round(time.Second))
		case t.Ending == dropblox.Flooded:
			why = "writes too much"
		}
		if why != "" {
			e.refuse(why, words.String())
			return nil
		}
		commands += len(t.Commands)
		if err := game.Submit(ctx, t.Commands); err != nil {
			return err
		}
	}
	if commands == 0 {
		why := fmt.Sprintf("writes no command in %d turns", testTurns)
		if foreign != "" {
			why += fmt.Sprintf(", but %.60q", foreign)
		}
		e.refuse(why, words.String())
	}
	return nil
}

// TestLines plays a game of m against a rival, any program that obeys the rules. An entrant that fails in one seat may
// play well in another, and in another dialect of the contest, which is then its own unless it says which it speaks. It
// is refused only if it fails in all; the reason is that of the first.
func TestLines(ctx context.Context, m series.Lines, rival contest.Program, e *Entrant) error {
	refused, output := "", ""
	dialects, seats := append([]string{""}, m.Setup.Dialects...), m.Rules.MinSeats
	if e.Program.Dialect != "" {
		dialects = dialects[:1]
	}
	for _, e.Dialect = range dialects {
		if e.Dialect != "" {
			seats = 1 // the test takes time
		}
		for seat := range seats {
			words := &contest.Tail{}
			m.Log, m.Errors = nil, words
			why, err := testSeat(ctx, m, rival, e, seat)
			if err != nil || why == "" {
				return err
			}
			if refused == "" {
				refused, output = why, words.String()
			}
		}
	}
	e.Dialect = ""
	e.refuse(refused, output)
	return nil
}

// testSeat plays a game with an entrant in a seat, and returns what is wrong with it, "" for nothing.
func testSeat(ctx context.Context, m series.Lines, rival contest.Program, e *Entrant, seat int) (string, error) {
	g := match.Played{Seed: "1", Seats: make([]int, m.Rules.MinSeats)}
	g.Seats[seat] = 1
	m.Player = func(number int) contest.Player {
		if number == 1 {
			return e.Player()
		}
		return contest.Player{Program: rival, Name: "first", Agent: "first"}
	}
	_, err := m.Play(ctx, &g)
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if err != nil {
		return "does not start: " + err.Error(), nil
	}
	if g.Void != "" { // the machine is too busy to judge it
		return "", nil
	}
	t, fault := g.Tallies[seat], g.Fault(seat)
	text := strings.Join(append([]string{fault}, t.Habits()...), ": ")
	switch {
	case t.Answers == 0 && fault != "":
		return "never answers: " + text, nil
	case t.Answers == 0:
		return strings.Join(append([]string{"never answers"}, t.Odd...), ": "), nil
	case fault != "":
		return fmt.Sprintf("fails after %d answers: %s", t.Answers, text), nil
	case 2*t.Unread > t.Answers:
		return fmt.Sprintf("answers nonsense: %d of %d answers cannot be read, such as %s", t.Unread, t.Answers,
			t.Example), nil
	}
	return "", nil
}
