package viewer

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/klauspost/compress/gzip"

	"blockyard/datasets/record"
)

const maxStaticFrames = 50_000 // the largest number of frames in a page that holds its game itself

// A Shown names the game of a page.
type Shown struct {
	Number int      `json:"number"` // in its file, from 1
	Game   string   `json:"game"`
	Agents []string `json:"agents"` // by seat
}

// WriteHTML writes a page with game number, from 1 or from -1 at the end, of a file of records, which needs no server,
// or fails if ctx ends. In a frame that may only run scripts, as in notebooks, the page works too.
func WriteHTML(ctx context.Context, w io.Writer, file string, number int) (*Shown, error) {
	e, err := find(ctx, file, number)
	if err != nil {
		return nil, err
	}
	html, err := e.html(ctx)
	if err != nil {
		return nil, err
	}
	_, err = io.WriteString(w, html)
	return &Shown{max(e.number, 1), e.Game, e.Players}, err
}

// find returns the entry of game number, from 1 or from -1 at the end, of a file.
func find(ctx context.Context, file string, number int) (*entry, error) {
	l, err := NewLibrary([]string{file})
	if err != nil {
		return nil, err
	}
	for !l.Refresh(time.Now().Add(pause)) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	listed := l.list()
	from := number
	if from < 0 {
		from += len(listed) + 1
	}
	at := slices.IndexFunc(listed, func(e *entry) bool { return max(e.number, 1) == from })
	if at < 0 {
		return nil, fmt.Errorf("%s has no game %d: it has %d games", file, number, len(listed))
	}
	return listed[at], nil
}

// entryOf is the entry of a record that is in no file. It has no time: the same record is the same page.
func entryOf(rec *record.Record, id string) *entry {
	return &entry{ID: id, Game: rec.Game, Players: rec.Names(), Scores: rec.Scores, Results: rec.Results,
		Length: len(rec.Choices), Stopped: rec.Stopped, record: rec}
}

// html returns the page of WriteHTML. A record that does not replay, or is very long, is shown as far as possible, with
// the reason.
func (e *entry) html(ctx context.Context) (string, error) {
	replay, err := e.replay(ctx)
	if err != nil {
		return "", err
	}
	about := replay.info()
	for ; about.Reading && about.Frames <= maxStaticFrames; about = replay.info() {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		replay.advance(time.Now().Add(pause))
	}
	if about.Frames == 0 {
		return "", errors.New(cmp.Or(about.Error, "the record has no positions"))
	}
	if about.Frames > maxStaticFrames {
		about.Frames = maxStaticFrames
		about.Error = fmt.Sprintf("The game continues: this page has only its first %d frames.", maxStaticFrames)
	}
	about.Reading, about.Live = false, false
	kinds := map[string]kind{e.Game: kindOf(e.Game)}
	out := stored{Game: details{Game: *e, Kind: kinds[e.Game], Replay: about, Gen: "0"},
		Games: list{Total: 1, All: 1, Games: []*entry{e}, Kinds: kinds}}
	data, err := out.pack(ctx, replay)
	if err != nil {
		return "", err
	}
	return inline(e.ID, data), nil
}

// A stored game is what the server would answer about it, except the frames.
type stored struct {
	Games list    `json:"games"`
	Game  details `json:"game"`
}

// pack returns the game with the frames of a replay as compressed JSON, in base64.
func (g *stored) pack(ctx context.Context, game replay) (string, error) {
	about, err := json.Marshal(g)
	if err != nil {
		return "", err
	}
	var packed bytes.Buffer
	text := base64.NewEncoder(base64.StdEncoding, &packed)
	zip := gzip.NewWriter(text)
	frames := json.NewEncoder(zip)
	between := string(about[:len(about)-1]) + `,"frames":[`
	for n := range g.Game.Replay.Frames { // one after the other: together they may be large
		_, err := io.WriteString(zip, between)
		if err = errors.Join(err, frames.Encode(game.frame(n)), ctx.Err()); err != nil {
			return "", fmt.Errorf("frame %d: %w", n, err)
		}
		between = ","
	}
	_, err = io.WriteString(zip, "]}")
	err = errors.Join(err, zip.Close(), text.Close())
	return packed.String(), err
}
