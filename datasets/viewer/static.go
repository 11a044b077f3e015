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

// WriteHTML writes a page with game number, from 1, of a file of records, which needs no server, or fails if ctx ends.
func WriteHTML(ctx context.Context, w io.Writer, file string, number int) error {
	e, err := find(ctx, file, number)
	if err != nil {
		return err
	}
	html, err := e.html(ctx)
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, html)
	return err
}

// find returns the entry of game number, from 1, of a file.
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
	at := slices.IndexFunc(l.list(), func(e *entry) bool { return max(e.number, 1) == number })
	if at < 0 {
		return nil, fmt.Errorf("%s has no game %d", file, number)
	}
	return l.list()[at], nil
}

// HTML returns the page of WriteHTML for a record called name, also for a frame that may only run scripts, as in
// notebooks. A record that does not replay, or is very long, is shown as far as possible, with the reason.
func HTML(ctx context.Context, rec *record.Record, name string) (string, error) {
	return entryOf(rec, name).html(ctx)
}

// entryOf is the entry of a record that is in no file. It has no time: the same record is the same page.
func entryOf(rec *record.Record, id string) *entry {
	return &entry{ID: id, Game: rec.Game, Players: rec.Names(), Scores: rec.Scores, Results: rec.Results,
		Length: len(rec.Choices), Stopped: rec.Stopped, record: rec}
}

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
