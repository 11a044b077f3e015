package dropblox

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sync/semaphore"

	"blockyard/datasets/program/disk"
	"blockyard/env/dropblox"
)

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

// A Folder is the history of one game: a folder with one file for each state and each move (rules §13) and a file meta.
// Files are written under a temporary name and renamed, so it can be read at any time during the game. A nil Folder
// writes nothing. It is not safe for concurrent use.
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
	for _, c := range []byte(id) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			return fmt.Errorf("game id %q: want letters and digits", id)
		}
	}
	return nil
}

// CreateFolder creates the folder <root>/<id>_<start in whole seconds of Unix time> and writes meta. If the folder
// already exists, the name has the next free second instead. An empty root keeps no history: the folder is nil. The
// folder takes its space from a budget; nil is no limit. If the space is used up, there is no folder and the error is
// ErrFull.
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
