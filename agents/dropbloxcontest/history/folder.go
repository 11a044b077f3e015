// Package history writes the history of a Dropblox game: a folder with one file for each state
// and each move (rules §13) and a file meta.
//
// Files are written under a temporary name and renamed, so the folder can be read at any time
// during the game.
package history

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"blockyard/env/dropblox"
)

// Meta is the content of the file meta.
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
}

// A Folder is the history of one game. A nil Folder writes nothing. It is not safe for
// concurrent use.
type Folder struct {
	Path string
	Meta Meta
}

// MaxID is the longest game id, in bytes.
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

// Create creates the folder <root>/<id>_<start in whole seconds of Unix time> and writes meta.
// If the folder already exists, the name has the next free second instead. An empty root
// keeps no history: the folder is nil.
func Create(root string, meta Meta) (*Folder, error) {
	if root == "" {
		return nil, nil
	}
	if err := CheckID(meta.ID); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(root, 0o755); err != nil {
		return nil, err
	}
	meta.Game, meta.Started = "dropblox", meta.Started.UTC()
	f := &Folder{Meta: meta}
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

// State writes the state before a turn.
func (f *Folder) State(turn int, state []byte) error {
	return f.write("state"+strconv.Itoa(turn), state)
}

// Move writes the commands of a turn.
func (f *Folder) Move(turn int, commands []dropblox.Command) error {
	return f.write("move"+strconv.Itoa(turn), dropblox.AppendMoves(nil, commands))
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

func (f *Folder) write(name string, text []byte) error {
	if f == nil {
		return nil
	}
	temp := filepath.Join(f.Path, ".tmp-"+name)
	if err := os.WriteFile(temp, text, 0o644); err != nil {
		return errors.Join(err, os.RemoveAll(temp))
	}
	return os.Rename(temp, filepath.Join(f.Path, name))
}
