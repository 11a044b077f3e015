package viewer

import (
	"context"
	"strings"
	"sync"
	"time"

	"blockyard/datasets/program/web/ask"
	"blockyard/datasets/viewer/analysis"
)

// pause is how long a response may read files; the other two are the largest sizes of a response.
const (
	pause     = 250 * time.Millisecond
	pageSize  = 500 // games
	chunkSize = 256 // frames
)

// answering answers the page that shows the games of a library.
type answering struct {
	library *Library
	analyst analysis.Analyst // nil if there is none

	mu   sync.Mutex
	held []*held // open games, the most recently used last
}

// Answers returns the answers to all that the page asks about the games of a library. They include analyses if there is
// an analyst, which may be nil.
func Answers(l *Library, analyst analysis.Analyst) ask.Answers {
	s := &answering{library: l, analyst: analyst}
	return ask.Answers{
		"GET /api/games": s.games, "GET /api/game": s.game, "GET /api/frames": s.frames,
		"GET /api/marked": s.marked, "GET /api/analysis": s.analysis,
	}
}

// list is the response to /api/games.
type list struct {
	Total   int      `json:"total"` // games that match
	All     int      `json:"all"`
	From    int      `json:"from"`
	Reading bool     `json:"reading"`
	Notes   []string `json:"notes,omitempty"`
	Games   []*entry `json:"games"`
	Kinds   kinds    `json:"kinds"` // of the games listed, by name
}

func (s *answering) games(_ context.Context, q *ask.Request) ([]byte, error) {
	from, count := q.Number("from", 0, 0, maxEntries), q.Number("count", 100, 1, pageSize)
	if err := q.Err(); err != nil {
		return nil, err
	}
	l := s.library
	l.mu.Lock()
	defer l.mu.Unlock()
	out := list{From: from, Reading: !l.refresh(time.Now().Add(pause)), Notes: l.notes, Games: []*entry{}, Kinds: kinds{}}
	all := l.list()
	out.All = len(all)
	words := strings.Fields(strings.ToLower(short(q.Get("q"), 200)))
	for _, e := range all {
		if len(words) > 0 && !e.matches(words) {
			continue
		}
		if out.Total++; out.Total > from && len(out.Games) < count {
			out.Games = append(out.Games, e)
			out.Kinds[e.Game] = l.kinds.of(e.Game)
		}
	}
	return ask.JSON(&out)
}

// details is the response to /api/game.
type details struct {
	Game   entry    `json:"game"`
	Kind   kind     `json:"kind"`
	Replay info     `json:"replay"`
	Known  int      `json:"known"`            // turns that the request knew; Replay.Starts is of the others
	Agents []string `json:"agents,omitempty"` // that can analyse the game, the default first
	Gen    string   `json:"gen"`              // changes when frames loaded before are obsolete
}

func (s *answering) game(ctx context.Context, q *ask.Request) ([]byte, error) {
	known := q.Number("known", 0, 0, 1<<40)
	f, err := s.open(ctx, q)
	if err != nil {
		return nil, err
	}
	defer f.mu.Unlock()
	out := details{Game: f.shown, Kind: kindOf(f.shown.Game), Replay: f.replay.info(), Gen: f.gen}
	out.Known = min(known, len(out.Replay.Starts))
	out.Replay.Starts = out.Replay.Starts[out.Known:]
	if s.analyst != nil {
		out.Agents = s.analyst.Agents(f.shown.Game)
	}
	return ask.JSON(&out)
}

// chunk is the response to /api/frames.
type chunk struct {
	From   int     `json:"from"`
	Gen    string  `json:"gen"`
	Frames []Frame `json:"frames"`
}

func (s *answering) frames(ctx context.Context, q *ask.Request) ([]byte, error) {
	from, count := q.Number("from", 0, 0, 1<<40), q.Number("count", chunkSize, 1, chunkSize)
	f, err := s.open(ctx, q)
	if err != nil {
		return nil, err
	}
	defer f.mu.Unlock()
	out := chunk{From: from, Gen: f.gen, Frames: []Frame{}}
	for n := from; n < min(from+count, f.replay.info().Frames) && ctx.Err() == nil; n++ {
		frame, err := f.replay.frame(n)
		if err != nil {
			return nil, err
		}
		out.Frames = append(out.Frames, frame)
	}
	return ask.JSON(&out)
}
