// Package viewer shows recorded games in a web browser. It serves one page from memory, which knows boards,
// pieces and notes but no game. It reads files of records, folders of them, and Dropblox history
// folders, and follows them while they are being written.
//
// # Addresses
//
//	GET  /                the page; #GAME/TURN opens a game at a turn, #GAME/TURN.STEP at a frame of it
//	GET  /api/games       ?q=WORDS&from=N&count=N  the list of games
//	GET  /api/game        ?id=GAME&known=N         description of a game: info; the page knows the first N turns
//	GET  /api/frames      ?id=GAME&from=N&count=N  frames, at most 256 per request
//	GET  /api/analysis    ?id=GAME&turn=N&agent=A  what the seats could have played: analysis.Position
//	GET  /api/marked      ?id=GAME&turn=N&seat=N&action=N  the frame of a turn that shows another action
//
// A game has an id in the list, never a path. A request cannot name a file, only a game in the list, and only the
// agents that the analyst offers. The analyst is handed in: this package knows no agents.
//
// # Time and memory
//
// Every response reads files for at most a fraction of a second and says whether there is more; the page
// then asks again. A few games stay open, each with its choices (at most a million) and a few thousand
// positions. Frames are painted on request.
package viewer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"blockyard/datasets/program/named"
	"blockyard/datasets/program/web/ask"
	"blockyard/datasets/viewer/analysis"
	"blockyard/env"
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

// A list is the response to /api/games: a page of the games that match, and how many there are.
type list struct {
	Total   int             `json:"total"` // games that match
	All     int             `json:"all"`
	From    int             `json:"from"`
	Reading bool            `json:"reading"`
	Notes   []string        `json:"notes,omitempty"`
	Games   []*entry        `json:"games"`
	Kinds   map[string]kind `json:"kinds"` // of the games listed, by name
}

func (s *answering) games(_ context.Context, q *ask.Request) ([]byte, error) {
	from, count := q.Number("from", 0, 0, maxEntries), q.Number("count", 100, 1, pageSize)
	if err := q.Err(); err != nil {
		return nil, err
	}
	l := s.library
	l.mu.Lock()
	defer l.mu.Unlock()
	out := list{From: from, Reading: !l.refresh(time.Now().Add(pause)), Notes: l.notes}
	out.Games, out.Kinds = []*entry{}, map[string]kind{}
	all := l.list()
	out.All = len(all)
	words := strings.Fields(strings.ToLower(short(q.Get("q"), 200)))
	for _, e := range all {
		if len(words) > 0 && !e.matches(words) {
			continue
		}
		if out.Total++; out.Total > from && len(out.Games) < count {
			out.Games = append(out.Games, e)
			if _, known := l.kinds[e.Game]; !known {
				l.kinds[e.Game] = kindOf(e.Game)
			}
			out.Kinds[e.Game] = l.kinds[e.Game]
		}
	}
	return ask.JSON(&out)
}

// details are the response to /api/game: what the page must know before it asks for frames.
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

// A chunk is the response to /api/frames: frames in a row, from number From on.
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
		out.Frames = append(out.Frames, f.replay.frame(n))
	}
	return ask.JSON(&out)
}

func (p *recordReplay) position(n int) (analysis.Request, error) {
	r := p.timeline
	if n >= r.Len() {
		return analysis.Request{}, fmt.Errorf("turn %d: the game has turns 0 to %d", n, r.Len()-1)
	}
	r.Seek(n)
	s := r.Game.New(r.Rec.Seats)
	s.CopyFrom(r.State())
	return analysis.Request{Record: r.Rec, Turn: n, State: s, Moves: r.Moves()}, nil
}

func (p *recordReplay) marked(_, seat int, a env.Action) (Frame, error) {
	return p.paint(env.Alone(seat, a)), nil
}

// marked responds with the frame of a turn that shows another action.
func (s *answering) marked(ctx context.Context, q *ask.Request) ([]byte, error) {
	turn, seat := q.Number("turn", -1, 0, 1<<40), q.Number("seat", -1, 0, env.MaxSeats-1)
	action := q.Number("action", -1, 0, int(env.None)-1)
	f, err := s.open(ctx, q)
	if err != nil {
		return nil, err
	}
	defer f.mu.Unlock()
	a := env.Action(action)
	r, err := f.replay.position(turn)
	if err == nil && (seat >= r.Record.Seats || !slices.Contains(r.State.Legal(seat, nil), a)) {
		err = fmt.Errorf("turn %d: action %d is not legal for seat %d", turn, a, seat)
	}
	if err != nil {
		return nil, err
	}
	frame, err := f.replay.marked(turn, seat, a)
	if err != nil {
		return nil, err
	}
	return ask.JSON(&frame)
}

// analysis responds with the analysis of a turn. The replay stays free for other requests in the meantime.
func (s *answering) analysis(ctx context.Context, q *ask.Request) ([]byte, error) {
	if s.analyst == nil {
		return nil, ask.Status(ask.NotFound,
			errors.New(named.Text("this viewer has no analyst: start it with agents analyze FILE --web")))
	}
	turn := q.Number("turn", -1, 0, 1<<40)
	f, err := s.open(ctx, q)
	if err != nil {
		return nil, err
	}
	request, err := f.replay.position(turn)
	known := s.analyst.Agents(f.shown.Game)
	f.mu.Unlock()
	if err != nil {
		return nil, err
	}
	if request.Agent = q.Get("agent"); !slices.Contains(known, request.Agent) {
		return nil, fmt.Errorf("agent %.80q: want one of %q", request.Agent, known)
	}
	out, err := s.analyst.Analyse(ctx, request)
	if err != nil {
		return nil, err
	}
	return ask.JSON(out)
}

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
