package viewer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"blockyard/datasets/record"
	"blockyard/datasets/record/gamelog"
	"blockyard/datasets/record/jsonl"
	"blockyard/datasets/record/playback"
	"blockyard/env"
	"blockyard/env/dropblox"
	"blockyard/env/games"
)

const maxChoices = 1 << 20 // the largest number of choices of a game that are shown

const replayPace = 300 // the duration of a position's frame in milliseconds

// A recordReplay is a record as a replay with one frame per position.
type recordReplay struct {
	entry    *entry
	history  *history // of a history folder; nil if the record is in a file
	timeline *playback.Timeline
	size     int64          // of the file when it was read, or the time of the folder's last change
	said     []gamelog.Turn // if the record is in a contest's log
	note     string         // about a game that is not shown completely
	cut      bool           // the file or the folder ends before the game does
	err      error
	frm      env.Frame
}

func (e *entry) replay(ctx context.Context) (replay, error) {
	if e.Error != "" {
		return nil, errors.New(e.Error)
	}
	p := &recordReplay{entry: e}
	var err error
	if e.history != nil {
		p.history, err = openHistory(e.history, e.Players[0])
	}
	if err == nil {
		err = p.read(ctx)
	}
	if err != nil {
		return nil, err
	}
	if _, ok := p.timeline.Game.New(p.timeline.Rec.Seats).(*dropblox.State); ok {
		return &commands{recordReplay: p, at: -1, live: p.cut}, nil
	}
	return p, nil
}

// read reads the record as far as it is complete, and starts a timeline with as many positions as before.
func (p *recordReplay) read(ctx context.Context) error {
	rec, cut, size, err := p.load(ctx)
	if err != nil {
		return err
	}
	g, err := games.Recorded(rec.Game, rec.Table)
	if err != nil {
		return fmt.Errorf("%s: %w", p.entry.ID, err)
	}
	if p.entry.log {
		if p.said, err = p.entry.said(); err != nil {
			return err
		}
	}
	p.cut, p.size, p.note = cut, size, ""
	rec.More = false
	short := len(rec.Choices) > maxChoices
	if short {
		rec.Choices = rec.Choices[:maxChoices]
		p.note = fmt.Sprintf("the game continues: only its first %d choices are shown", maxChoices)
		p.cut = false
	}
	was := 0
	if p.timeline != nil {
		was = p.timeline.Len()
	}
	p.timeline = playback.New(g, rec)
	p.timeline.Unfinished = cut || short
	for p.timeline.Len() < was && !p.timeline.Done() {
		p.timeline.Advance(time.Now())
	}
	return nil
}

const readTime = 20 * time.Second // how long a game may take to be found in its file, and read

var errDeep = fmt.Errorf("the game is not reached within %v: uncompress or split the file", readTime)

// load returns the record so far, whether it ends before the game does (cut), and recordReplay.size.
func (p *recordReplay) load(ctx context.Context) (rec *record.Record, cut bool, size int64, err error) {
	e := p.entry
	switch {
	case p.history != nil:
		size = p.history.changed().UnixNano()
		p.history.grow(ctx)
		kept := *p.history.rec // which may be shortened
		return &kept, !p.history.over, size, nil
	case e.record != nil:
		kept := *e.record
		return &kept, false, 0, kept.Validate()
	}
	st, err := os.Stat(e.path)
	if err != nil {
		return nil, false, 0, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, readTime, errDeep)
	defer cancel()
	rec, cut, err = e.read(ctx)
	if errors.Is(err, context.DeadlineExceeded) && errors.Is(context.Cause(ctx), errDeep) {
		err = fmt.Errorf("%s: game %d: %w", e.file, e.number, errDeep)
	}
	return rec, cut, st.Size(), err
}

// read reads the entry's game from its file; for cut see load.
func (e *entry) read(ctx context.Context) (rec *record.Record, cut bool, err error) {
	in, err := jsonl.OpenAt(e.file, e.path, e.line-1, e.offset)
	if err != nil {
		return nil, false, err
	}
	defer in.Close()
	in.Use(ctx)
	r := record.ReadLines(in)
	rec = new(record.Record)
	if err := r.ReadPart(rec); errors.Is(err, io.EOF) {
		return nil, false, fmt.Errorf("%s: game %d no longer exists", e.file, e.number)
	} else if err != nil {
		return nil, false, err
	}
	for rec.More && len(rec.Choices) <= maxChoices && len(rec.Draws) <= maxChoices {
		if err := r.Extend(rec); errors.Is(err, record.ErrPartial) || errors.Is(err, io.EOF) {
			return rec, true, nil
		} else if err != nil {
			return nil, false, err
		}
	}
	rec.More = false
	if len(rec.Choices) <= maxChoices {
		err = rec.Validate()
	}
	return rec, false, err
}

const maxReason = 300 // bytes of what decided a game

// said reads what the log has of the entry's game.
func (e *entry) said() ([]gamelog.Turn, error) {
	f, err := os.Open(e.path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return gamelog.Read(e.file, io.NewSectionReader(f, e.from, e.offset-int64(len(gamelog.Prefix))-e.from))
}

// tell adds what the bots and their host said in the current turn.
func (p *recordReplay) tell(out *Frame) {
	for seat := range out.Seats {
		if at := p.timeline.At(); at < len(p.said) && p.said[at][seat] != (gamelog.Said{}) {
			out.Seats[seat].Said = &p.said[at][seat]
		}
	}
}

func (p *recordReplay) advance(deadline time.Time) {
	if p.timeline.Advance(deadline) && p.cut && p.grown() {
		if p.err = p.read(context.Background()); p.err == nil {
			p.timeline.Advance(deadline)
		}
	}
}

// grown reports whether there may be more to read. A history whose next turn cannot be read is read again.
func (p *recordReplay) grown() bool {
	if p.history != nil {
		return p.history.err != nil || p.history.changed().UnixNano() != p.size
	}
	st, err := os.Stat(p.entry.path)
	return err == nil && st.Size() != p.size
}

func (p *recordReplay) info() info {
	out := info{Frames: p.timeline.Len(), Turns: p.timeline.Len(), Reading: !p.timeline.Done(), Pace: replayPace}
	out.Scores = p.timeline.Scores().Seats
	out.Live = p.cut && p.entry.open && p.entry.fresh()
	switch {
	case p.err != nil:
		out.Error = p.err.Error()
	case p.history != nil && p.history.err != nil:
		out.Error = p.history.err.Error()
	case p.timeline.Err() != nil:
		out.Error = "The record does not replay: " + p.timeline.Err().Error()
	}
	return out
}

func (p *recordReplay) frame(n int) Frame {
	p.timeline.Seek(n)
	return p.paint(p.timeline.Moves())
}

// paint paints the current position with these actions.
func (p *recordReplay) paint(moves env.Moves) Frame {
	r := p.timeline
	r.ShowMoves(&p.frm, moves)
	out := frameOf(&p.frm, r.State(), r.At())
	out.actions(r)
	p.tell(&out)
	switch {
	case r.Done() && r.Last() && r.State().Acting() == 0:
		out.Over = verdict(r.State(), r.Rec.Names())
		if why := short(r.Rec.Decided(), maxReason); why != "" {
			out.Over += " · " + why
		}
	case r.Last():
		out.Over = p.ending()
	}
	return out
}

// ending says why a game that is not over ends with the last position; "" if it goes on.
func (p *recordReplay) ending() string {
	switch {
	case !p.timeline.Done():
	case p.history != nil && p.history.late:
		return "Time is up"
	case p.timeline.Rec.Stopped && !p.cut, p.history != nil && p.cut && !p.entry.open:
		if why := short(p.timeline.Rec.Decided(), maxReason); why != "" {
			return "Stopped here: " + why
		}
		return "Stopped here"
	}
	return p.note
}

// verdict describes the result of a game that is over in s. names has the player of every seat.
func verdict(s env.State, names []string) string {
	seats := s.SeatCount()
	if seats == 1 {
		return fmt.Sprintf("Game over · score %d", s.Score(0))
	}
	best, winners := float32(-2), []string(nil)
	for seat := range seats {
		switch res := s.Result(seat); {
		case res > best:
			best, winners = res, []string{player(names, seat)}
		case res == best:
			winners = append(winners, player(names, seat))
		}
	}
	switch {
	case len(winners) == seats:
		return "Draw"
	case len(winners) == 1:
		return winners[0] + " wins"
	}
	return strings.Join(winners, " and ") + " share the win"
}

func points(n int) string {
	if n == 1 {
		return "1 point"
	}
	return fmt.Sprintf("%d points", n)
}

// player names the player on seat, with the seat's number, from 1, if another player has the same name.
func player(agents []string, seat int) string {
	for other, name := range agents {
		if other != seat && name == agents[seat] {
			return fmt.Sprintf("%s (seat %d)", name, seat+1)
		}
	}
	return agents[seat]
}
