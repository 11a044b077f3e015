package dropblox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"time"

	"golang.org/x/sync/semaphore"

	"blockyard/datasets/program/disk"
	"blockyard/datasets/record"
	"blockyard/env"
	"blockyard/env/dropblox"
)

type Game interface {
	Status() Status // how far the game has come
	// Submit plays the commands of a turn. Commands that come too late end the game instead.
	Submit(ctx context.Context, commands []dropblox.Command) error
	Expire() // ends the game because its time is over
}

type Status struct {
	State  []byte // as JSON, as the program gets it
	Turns  int    // played
	Score  int
	Over   bool
	Reason Reason // why it is over
	Left   time.Duration
}

type Local struct {
	Game  dropblox.State
	Began time.Time
	Clock time.Duration
	// Watch is called with every turn before it is played. It may be nil.
	Watch func(s *dropblox.State, commands []dropblox.Command)

	expired bool
}

var _ Game = (*Local)(nil)

// NewLocal creates the game of a seed, any decimal integer, and starts its clock.
func NewLocal(seed string, clock time.Duration) (*Local, error) {
	l := &Local{Began: time.Now(), Clock: clock}
	if err := l.Game.ResetSeed(seed); err != nil {
		return nil, err
	}
	return l, nil
}

func (l *Local) Status() Status {
	return Status{
		JSON(&l.Game), int(l.Game.Turns), l.Game.Score(0), l.Game.Failed, why(l.expired), l.Clock - time.Since(l.Began),
	}
}

func why(expired bool) Reason {
	if expired {
		return Time
	}
	return Blocked
}

// JSON returns a state as a program gets it.
func JSON(s *dropblox.State) []byte {
	p := s.Position()
	return p.AppendJSON(make([]byte, 0, 4096))
}

func (l *Local) Submit(_ context.Context, commands []dropblox.Command) error {
	if time.Since(l.Began) > l.Clock {
		l.Expire()
		return nil
	}
	if l.Watch != nil {
		l.Watch(&l.Game, commands)
	}
	l.Game.Play(commands)
	return nil
}

func (l *Local) Expire() {
	l.expired = true
	l.Game.Expire()
}

type LocalGame struct {
	Player         // Play sets Game, History and Margin
	ID      string // in the game's history
	Seed    string // any decimal integer
	Clock   time.Duration
	Folders string // folder for the game's history; "" keeps none
}

// Play plays the game. The record of a game that has begun is returned also with an error.
func (g LocalGame) Play(ctx context.Context) (Result, *Recorder, error) {
	game, err := NewLocal(g.Seed, g.Clock)
	var rec *Recorder
	if err == nil {
		g.Game, g.Margin = game, Margin
		meta := Meta{ID: g.ID, Seed: g.Seed, Program: g.Program.Name, Mode: "local", Started: game.Began}
		g.History, err = CreateFolder(g.Folders, meta, nil)
	}
	if err == nil {
		rec, err = Record(game, g.Seed, "exec:"+g.Program.Name)
	}
	if err != nil {
		return Result{Reason: Failed}, nil, err
	}
	r, err := g.Player.Play(ctx)
	return r, rec, err
}

// A Recorder turns a local game into a record of actions.
type Recorder struct {
	rec  *record.Record
	err  error
	last dropblox.State // without the effects of the clock
}

// Record returns a recorder for a game that has not begun. who names the program in the record.
func Record(l *Local, seed, who string) (*Recorder, error) {
	n, ok := new(big.Int).SetString(seed, 10)
	if !ok {
		return nil, fmt.Errorf("seed %.20q: want a decimal integer", seed)
	}
	r := &Recorder{last: l.Game, rec: record.New(dropblox.Game, 0, []string{who})}
	if n.Abs(n).IsUint64() {
		r.rec.Seed = n.Uint64()
	} else if start, err := env.Encode(nil, &l.Game); err == nil { // too large for the seed of a record
		r.rec.Start = start
	} else {
		return nil, err
	}
	l.Watch = func(s *dropblox.State, commands []dropblox.Command) {
		r.last = *s
		r.last.Play(commands)
		a, ok := s.ActionTo(&r.last)
		if !ok && r.err == nil {
			r.err = fmt.Errorf("turn %d: no action does what the commands %v do", s.Turns, commands)
		}
		r.rec.Add(s.Acting(), env.Alone(0, a))
	}
	return r, nil
}

// End returns the record of a game that is over, or was stopped early.
func (r *Recorder) End(reason Reason) (*record.Record, error) {
	r.rec.End(&r.last)
	r.rec.Meta = map[string]string{"reason": string(reason)}
	if r.err == nil {
		r.err = record.Check(dropblox.Game, r.rec)
	}
	if r.err != nil {
		return nil, fmt.Errorf("the game as actions: %w", r.err)
	}
	return r.rec, nil
}

type Meta struct {
	Game    string    `json:"game"`              // "dropblox"
	ID      string    `json:"id"`                // "0" for a game played locally
	Seed    string    `json:"seed,omitempty"`    // decimal; left out if unknown
	Program string    `json:"program,omitempty"` // as the user gave it
	Team    string    `json:"team,omitempty"`
	Mode    string    `json:"mode,omitempty"` // local, practice, compete
	Started time.Time `json:"started"`
	Turns   int       `json:"turns"`
	Score   int       `json:"score"`
	Reason  string    `json:"reason,omitempty"` // why the game ended; left out during the game
	Cut     bool      `json:"cut,omitempty"`    // the space was used up: later states and moves are missing
}

var ErrFull = errors.New("the space for histories is used up")

// A file takes whole blocks of the disk, and a folder one for itself and one for meta.
const (
	blockSize  = 4096
	folderSize = 2 // blocks
)

// A Budget is the space on disk for one or more histories, in blocks that are acquired and never released.
type Budget = semaphore.Weighted

// NewBudget returns a budget of so many bytes.
func NewBudget(bytes int64) *Budget { return semaphore.NewWeighted(bytes / blockSize) }

// A Folder is the history of one game: a folder with a file for each state and each move (rules §13) and a file meta.
// Files are published whole, so it can be read during the game. A nil Folder writes nothing. Not for concurrent use.
type Folder struct {
	Path  string
	Meta  Meta
	space *Budget
}

const MaxID = 64

// CheckID returns an error unless an id consists of letters and digits.
func CheckID(id string) error {
	if id == "" || len(id) > MaxID {
		return fmt.Errorf("game id of %d characters, want 1 to %d", len(id), MaxID)
	}
	if !goodID.MatchString(id) {
		return fmt.Errorf("game id %q: want letters and digits", id)
	}
	return nil
}

var goodID = regexp.MustCompile(`^[0-9A-Za-z]+$`)

// CreateFolder creates <root>/<id>_<start in whole seconds of Unix time>, or the next free second, and writes meta. An
// empty root keeps no history: the folder is nil. A budget (nil: no limit) without space gives no folder and ErrFull.
func CreateFolder(root string, meta Meta, space *Budget) (*Folder, error) {
	if root == "" {
		return nil, nil
	}
	if err := CheckID(meta.ID); err != nil {
		return nil, err
	}
	if space != nil && !space.TryAcquire(folderSize) {
		return nil, ErrFull
	}
	if err := os.MkdirAll(root, 0o755); err != nil {
		return nil, err
	}
	meta.Game, meta.Started = "dropblox", meta.Started.UTC()
	f := &Folder{Meta: meta, space: space}
	for second := meta.Started.Unix(); ; second++ {
		f.Path = filepath.Join(root, meta.ID+"_"+strconv.FormatInt(second, 10))
		err := os.Mkdir(f.Path, 0o755)
		if err == nil {
			return f, f.writeMeta()
		}
		if !errors.Is(err, os.ErrExist) {
			return nil, err
		}
	}
}

// State writes the state before a turn. Once the space is used up, State and Move write nothing; the
// first of these calls returns ErrFull.
func (f *Folder) State(turn int, state []byte) error {
	return f.add("state"+strconv.Itoa(turn), state)
}

func (f *Folder) Move(turn int, commands []dropblox.Command) error {
	return f.add("move"+strconv.Itoa(turn), dropblox.AppendMoves(nil, commands))
}

// End writes meta again, with the result.
func (f *Folder) End(turns, score int, reason string) error {
	if f == nil {
		return nil
	}
	f.Meta.Turns, f.Meta.Score, f.Meta.Reason = turns, score, reason
	return f.writeMeta()
}

func (f *Folder) writeMeta() error {
	text, err := json.Marshal(f.Meta)
	if err != nil {
		return err
	}
	return f.write("meta", text)
}

func (f *Folder) add(name string, text []byte) error {
	if f == nil || f.Meta.Cut {
		return nil
	}
	if f.space != nil && !f.space.TryAcquire(max(1, int64(len(text)+blockSize-1)/blockSize)) {
		f.Meta.Cut = true
		return ErrFull
	}
	return f.write(name, text)
}

// write writes a file. It does not wait for the disk, as a game has a clock.
func (f *Folder) write(name string, text []byte) error {
	return disk.Publish(filepath.Join(f.Path, name), 0o644, text)
}
