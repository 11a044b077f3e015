package viewer

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"blockyard/datasets/program/web/ask"
	"blockyard/datasets/record"
)

// maxReplays is how many games are kept open. The least recently used one is closed first.
const maxReplays = 6

// A held is an open replay. One request at a time uses it.
type held struct {
	id     string
	gen    string
	mu     sync.Mutex
	replay replay
	entry  *entry
	shown  entry // for the page
}

// open returns the replay of a request, locked, after it has read for a while.
func (s *answering) open(ctx context.Context, q *ask.Request) (*held, error) {
	if err := q.Err(); err != nil {
		return nil, err
	}
	id := q.Get("id")
	e := s.library.game(id)
	for k := 0; e == nil && k < 20 && ctx.Err() == nil; k++ { // perhaps the list has not been read yet
		done := s.library.Refresh(time.Now().Add(pause))
		if e = s.library.game(id); done {
			break
		}
	}
	if e == nil {
		return nil, ask.Status(ask.NotFound, fmt.Errorf("there is no game %q in the list", short(id, 200)))
	}
	s.library.mu.Lock()
	now := *e
	s.library.mu.Unlock()
	h := s.find(&now)
	h.mu.Lock()
	if h.replay == nil {
		replay, err := now.replay(ctx)
		if err != nil { // the next request tries again; until then, other games have the room
			h.mu.Unlock()
			s.mu.Lock()
			defer s.mu.Unlock()
			s.held = slices.DeleteFunc(s.held, func(other *held) bool { return other == h })
			return nil, err
		}
		h.replay, h.entry = replay, &now
	}
	h.entry.changed, h.entry.open, h.shown = now.changed, now.open, now
	h.replay.advance(time.Now().Add(pause))
	return h, nil
}

// find returns the replay of an entry, an empty one if it is not open.
func (s *answering) find(e *entry) *held {
	s.mu.Lock()
	defer s.mu.Unlock()
	gen := fmt.Sprintf("%d.%d", e.version, e.offset)
	h := &held{id: e.ID, gen: gen}
	if k := slices.IndexFunc(s.held, func(h *held) bool { return h.id == e.ID && h.gen == gen }); k >= 0 {
		h = s.held[k]
		s.held = slices.Delete(s.held, k, k+1)
	}
	s.held = append(s.held, h)
	s.held = s.held[max(0, len(s.held)-maxReplays):]
	return h
}

// An entry is a game in the list.
type entry struct {
	ID      string    `json:"id"`
	Game    string    `json:"game"`
	Players []string  `json:"players"`
	Scores  []int     `json:"scores,omitempty"`
	Results []float32 `json:"results,omitempty"`
	Length  int       `json:"length"` // choices, or turns
	Time    int64     `json:"time"`   // of the game or its file, in milliseconds since 1970
	Live    bool      `json:"live,omitempty"`
	Stopped bool      `json:"stopped,omitempty"`
	Error   string    `json:"error,omitempty"`

	file, path string // as shown, and on the disk
	number     int    // of the game in its file, from 1
	line       int    // its first line, from 1
	offset     int64
	part       int // of a game with several lines: the last one read
	open       bool
	history    *folder        // of a history folder
	record     *record.Record // of a game that is in no file
	version    int            // changes when another game takes this place
	changed    time.Time
}

// fresh reports whether the entry's file may still be being written.
func (e *entry) fresh() bool { return time.Since(e.changed) < quiet }

func (e *entry) matches(words []string) bool {
	text := strings.ToLower(e.ID + " " + e.Game + " " + strings.Join(e.Players, " "))
	return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text, w) })
}

// short cuts a text to at most n bytes, between characters.
func short(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}
