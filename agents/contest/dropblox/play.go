// Package dropblox plays the Dropblox contest. A Player asks a program for the commands of every turn of a Game and
// measures its time. Its console lines and its history folder are those of the contest's original client. The two
// kinds of Game are Local, on this machine, and Remote, at a contest's server.
//
// Its packages: protocol defines the messages between server and clients; teams stores names and passwords; server
// implements the contest's server.
package dropblox

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"blockyard/agents/contest"
	"blockyard/env/ansi"
	"blockyard/env/dropblox"
)

type Player struct {
	Program *Program
	Game    Game
	History *Folder        // nil writes no history
	Console *Console       // nil prints nothing
	Margin  time.Duration  // subtracted from the time that the program gets
	Turns   int            // the game ends after this many; 0 is no limit
	Points  int            // the game ends at this score; 0 is no limit
	Each    func(t Result) // called after every turn; may be nil
	// Log gets what is said in every turn, as a Host's does. It may be nil.
	Log func(kind contest.Kind, text string)
}

// A Result is how far a game has come.
type Result struct {
	Score   int
	Turns   int // for which the program was started
	Reason  Reason
	Used    time.Duration // by the program, in all turns together
	Longest time.Duration // by the program, in one turn
	Left    time.Duration // of the game's clock
}

// Play plays to the end of the game. It fails if ctx ends, the program cannot be started, the
// server fails or the history cannot be written; the result then describes the unfinished game.
func (p *Player) Play(ctx context.Context) (Result, error) {
	r := Result{}
	switch {
	case p.Log != nil:
		some := func(kind contest.Kind, what string) func(line string) {
			room := maxErrors // in the game
			return func(line string) {
				if room -= len(what) + len(line) + logged; room > 0 {
					p.Log(kind, what+line)
				}
			}
		}
		p.Program.Complain, p.Program.Foreign = some(contest.Error, ""), some(contest.Remark, "not a command: ")
		defer func() { p.Program.Foreign, p.Program.Complain = nil, nil }()
	case p.Console != nil && p.Program.Foreign == nil:
		p.Program.Foreign = func(line string) { p.Console.line("", "INVALID COMMAND: "+line) }
		defer func() { p.Program.Foreign = nil }()
	}
	err := p.play(ctx, &r)
	end := p.Game.Status()
	r.Score, r.Left = end.Score, end.Left
	switch {
	case err != nil && ctx.Err() != nil:
		r.Reason = Stopped
	case err != nil:
		r.Reason = Failed
	}
	if e := p.History.End(end.Turns, end.Score, string(r.Reason)); err == nil {
		err = e
	}
	return r, err
}

// play plays turn after turn (rules §8.4): write the state, run the program, write the move, play the commands.
func (p *Player) play(ctx context.Context, r *Result) error {
	for turn := p.Game.Status().Turns; ; turn++ {
		now := p.Game.Status()
		left := now.Left - p.Margin
		switch {
		case now.Over:
		case left <= 0: // too little time to start the program
			p.Game.Expire()
			now = p.Game.Status()
			now.Over, now.Reason = true, Time
		case p.Turns > 0 && r.Turns >= p.Turns:
			now.Over, now.Reason = true, Turns
		case p.Points > 0 && now.Score >= p.Points:
			now.Over, now.Reason = true, Points
		}
		if err := p.History.State(turn, now.State); err != nil {
			return err
		}
		if now.Over {
			r.Reason = now.Reason
			return nil
		}
		p.log(contest.Note, fmt.Sprintf("Turn %d", turn))
		p.log(contest.ToBot, string(now.State)+" "+Seconds(left))
		t, err := p.Program.Turn(ctx, now.State, left)
		if err != nil {
			return err
		}
		answer := words(t.Commands[:min(len(t.Commands), maxLogged)], ", ")
		if more := len(t.Commands) - maxLogged; more > 0 {
			answer += fmt.Sprintf(" and %d more", more)
		}
		p.log(contest.FromBot, answer)
		p.log(contest.Time, fmt.Sprintf("%.3f ms of %.3f ms; CPU %.3f ms", 1000*t.Elapsed.Seconds(), 1000*left.Seconds(),
			1000*t.CPU.Seconds()))
		r.Used += t.Elapsed
		r.Longest = max(r.Longest, t.Elapsed)
		if err := p.History.Move(turn, t.Commands); err != nil {
			return err
		}
		p.Console.received(t)
		if err := p.Game.Submit(ctx, t.Commands); err != nil {
			return err
		}
		r.Turns++
		made := p.Game.Status()
		r.Score = made.Score
		p.Console.made(made)
		if p.Each != nil {
			p.Each(*r)
		}
	}
}

func (p *Player) log(k contest.Kind, text string) {
	if p.Log != nil {
		p.Log(k, text)
	}
}

// words are commands as text.
func words(commands []dropblox.Command, between string) string {
	var list []string
	for _, c := range commands {
		list = append(list, c.String())
	}
	return strings.Join(list, between)
}

// A Console prints what the original client prints (rules §8.4). A nil Console prints nothing.
type Console struct {
	W      io.Writer
	Colour bool
}

func (c *Console) line(colour, text string) {
	if c == nil {
		return
	}
	on, off := "", ""
	if c.Colour && colour != "" {
		on, off = "\x1b["+colour+"m", "\x1b[0m"
	}
	fmt.Fprint(ansi.Styled(c.W), on)
	fmt.Fprint(c.W, text)
	fmt.Fprintln(ansi.Styled(c.W), off)
}

const red, cyan = "31", "36"

func (c *Console) received(t Turn) {
	c.line(red, "Terminating process")
	text := words(t.Commands, "', '")
	if text != "" {
		text = "'" + text + "'"
	}
	c.line(cyan, "commands received: ["+text+"]")
}

// made prints turns, score and time after a turn.
func (c *Console) made(s Status) {
	left := strconv.FormatFloat(s.Left.Round(time.Microsecond).Seconds(), 'f', -1, 64)
	c.line("", fmt.Sprintf("moves_made: %d score: %d seconds_remaining: %s", s.Turns, s.Score, left))
}

// Results prints the result of a game. As in the original, the number of turns leaves out the last one.
func (c *Console) Results(r Result) {
	c.line("", fmt.Sprintf("Game over! Your score was: %d", r.Score))
	c.line("", fmt.Sprintf("RESULTS: %d", r.Score))
	c.line("", fmt.Sprintf("RESULTS_TIME: %d", max(0, r.Turns-1)))
}

// The time limits of the original contest.
const (
	Clock  = 300 * time.Second // of a game, from its creation
	Margin = time.Second       // subtracted from the time that a program gets
)

type Reason string

// The reasons.
const (
	Blocked Reason = "blocked" // the next block found no room
	Time    Reason = "time"    // the clock ran out
	Turns   Reason = "turns"   // the limit on turns was reached
	Points  Reason = "points"  // the score to stop at was reached
	Stopped Reason = "stopped" // the player or the server was stopped
	Failed  Reason = "failed"  // the program could not be run, or the server not be reached
)

func RandomSeed() string { return strconv.FormatUint(rand.Uint64(), 10) }

// A Program says how to start a player; Argv[0] is absolute. It is started for every turn, with the state as JSON and
// the remaining seconds as further arguments, and writes one command per line: rules §8, §9 say what counts when.
//
// A program cannot block its host or make it use unlimited memory: the time, the number of commands and the size of the
// output are limited, and the program's process group is killed at the end of the turn.
type Program struct {
	contest.Program
	Name   string    // as the user gave it
	Errors io.Writer // gets standard error, up to a limit in every turn; nil discards it
	// Complain is called with every line of standard error instead, as Foreign is.
	Complain func(line string)
	// Foreign is called with every line of output that is not a command, from another
	// goroutine, but never after Turn has returned. It may be nil.
	Foreign func(line string)
}

// Limits of one turn's output. A program that exceeds MaxCommands or maxOutput is ended.
const (
	MaxCommands = 1 << 16  // commands
	maxOutput   = 16 << 20 // bytes in all
	maxShown    = 64 << 10 // bytes of lines that are not commands
	maxLogged   = 1000     // commands of a turn in a log
	logged      = 20       // bytes of a line in a log, beside its text
)

type output struct {
	foreign  func(line string) // gets the lines that are not commands; may be nil
	commands []dropblox.Command
	flooded  bool

	lines dropblox.Output
	total int
	shown int
}

func (o *output) read(r io.Reader) {
	buf := make([]byte, 4096)
	for !o.flooded {
		n, err := r.Read(buf)
		if o.total += n; o.total > maxOutput {
			o.flooded = true
		}
		o.lines.Write(buf[:n], o.line)
		if err != nil {
			break
		}
	}
	o.lines.Close(o.line)
}

func (o *output) line(text string) {
	c, ok := dropblox.ParseCommand(text)
	switch {
	case ok && len(o.commands) < MaxCommands:
		o.commands = append(o.commands, c)
	case ok:
		o.flooded = true
	case o.foreign != nil && o.shown <= maxShown:
		o.foreign(text)
		if o.shown += len(text) + 1; o.shown > maxShown {
			o.foreign("(more of this is not shown)")
		}
	}
}

const (
	exitTime  = time.Second            // to end by itself after closing its output: a busy machine takes its time
	Grace     = 500 * time.Millisecond // between being asked to end and being killed
	maxErrors = 1 << 20                // bytes of standard error that are passed on in a turn, or logged in a game
)

type Ending int

// The endings.
const (
	Exited    Ending = iota // the program ended
	Closed                  // it closed its output but did not exit
	Late                    // its time had run out
	Flooded                 // it wrote too much
	Cancelled               // ctx ended
)

type Turn struct {
	Commands []dropblox.Command
	Ending   Ending
	Elapsed  time.Duration // until its processes had ended
	CPU      time.Duration // of the program and the children it has waited for
}

// Turn runs the program for one turn, with the state as JSON and the time left as arguments, for at most that time. The
// error says that the program could not be started, or is that of ctx; no process is left in either case.
func (p *Program) Turn(ctx context.Context, state []byte, left time.Duration) (Turn, error) {
	if err := ctx.Err(); err != nil {
		return Turn{Ending: Cancelled}, err
	}
	began := time.Now()
	out := output{foreign: p.Foreign}
	closed := make(chan struct{})
	spec := contest.Spec{
		Argv: append(append([]string{}, p.Argv...), string(state), Seconds(left)), Dir: p.Dir,
		Memory: p.Memory, Cage: p.Cage,
		Stdout: func(r io.Reader) {
			out.read(r)
			close(closed)
		},
	}
	switch {
	case p.Complain != nil:
		spec.Stderr = func(r io.Reader) { contest.PassLines(r, p.Complain) }
	case p.Errors != nil:
		spec.Stderr = contest.PassOn(p.Errors, maxErrors)
	}
	child, err := contest.StartChild(spec)
	if err != nil {
		return Turn{}, fmt.Errorf("program %s: %w", p.Name, err)
	}
	clock := time.NewTimer(left - time.Since(began))
	defer clock.Stop()
	var t Turn
	select {
	case <-child.Exited():
		t.Ending = Exited
	case <-closed:
		t.Ending = Closed
		if out.flooded {
			t.Ending = Flooded
		} else if child.Exit(exitTime) {
			t.Ending = Exited
		}
	case <-clock.C:
		t.Ending = Late
	case <-ctx.Done():
		t.Ending, err = Cancelled, ctx.Err()
	}
	if t.Ending != Exited {
		child.Terminate()
		child.Exit(Grace)
	}
	_ = child.Kill() // the exit status has no meaning
	t.Commands, t.Elapsed, t.CPU = out.commands, time.Since(began), child.CPU()
	return t, err
}

// Seconds formats the time left as a program gets it: a JSON number with a decimal point.
func Seconds(left time.Duration) string { return strconv.FormatFloat(left.Seconds(), 'f', 6, 64) }
