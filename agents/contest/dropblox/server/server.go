// Package server implements the server of a Dropblox contest (rules §15). A team can play practice games at any time,
// and all teams play the rounds of the competition, with the same blocks at the same time.
//
// Every reply is JSON. Its status is 200, with ok, wait or fail in the key ret; 401 for a wrong name or password; 429
// for one request too many, with the seconds to wait in the header Retry-After; and another 4xx for an invalid request,
// with the reason. Until a team has logged in on a connection, every reply closes it.
package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"blockyard/agents/contest/dropblox"
	"blockyard/agents/contest/dropblox/protocol"
	"blockyard/agents/contest/dropblox/teams"
	"blockyard/datasets/program/web"
)

// Limits of a team, beside those of Config.
const (
	running       = 4        // practice games at the same time; one more ends the oldest
	kept          = 8        // practice games in all, finished ones included
	practiceBurst = 10       // practice games that it may start at once
	requestRate   = 1000     // requests per second
	roundHistory  = 64 << 20 // bytes on disk for the history of a game of a round
)

type Config struct {
	Teams   *teams.Guard
	Clock   time.Duration // of a game
	History string        // folder for the games; "" keeps none
	Rounds  int           // of the competition; 0 is no limit
	Players int           // number of waiting teams that begins a round, 1 or more
	Start   time.Time     // when the first round begins in any case, if not zero
	Notice  time.Duration // time between the arrival of the last team and the round
	// Practice is how many practice games a team may start per minute; more at once are missing later.
	Practice int
	// HistoryBytes is the space on disk for the histories of a team's practice games; further ones have none.
	HistoryBytes int64
	// Round is called after every round, from several goroutines, one at a time. It may be nil.
	Round func(Round)
	Names web.Names    // by which teams call the server; see package web
	Log   *slog.Logger // other events
}

// A Server runs a contest. It is safe for concurrent use.
type Server struct {
	c    Config
	now  func() time.Time
	seed func() string // of a round
	done chan struct{} // closed after the last round

	mu       sync.Mutex
	games    map[string]*game   // by id
	practice map[string][]*game // by team, the oldest first
	round    round

	allowances map[string]*allowance // by team

	out sync.Mutex // of Round

	counting sync.Mutex
	counts   Counts
}

// New returns a server. Call Serve, or Tick about ten times per second.
func New(c Config) *Server {
	return &Server{
		c: c, now: time.Now, seed: randomSeed, done: make(chan struct{}),
		games: map[string]*game{}, practice: map[string][]*game{}, allowances: map[string]*allowance{},
		round: round{number: 1, begins: c.Start, waiting: map[string]time.Time{}}, counts: Counts{Requests: map[int]int{}},
	}
}

func randomSeed() string { return strconv.Itoa(int(int32(rand.Uint32()))) }

func (s *Server) create(team string) (*protocol.Reply, error) {
	now := s.now()
	g, err := s.newGame(team, "practice", dropblox.RandomSeed(), now, s.allowance(team).history)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	s.games[g.id] = g
	list := append(slices.Clone(s.practice[team]), g) // the oldest first
	going := slices.DeleteFunc(slices.Clone(list), func(g *game) bool { return !g.running(now) })
	if len(list) > kept { // not all of them go on
		k := slices.IndexFunc(list, func(g *game) bool { return !slices.Contains(going, g) })
		delete(s.games, list[k].id)
		list = slices.Delete(list, k, k+1)
	}
	if len(going) > running {
		going[0].close(dropblox.Stopped)
	}
	s.practice[team] = list
	s.mu.Unlock()
	s.count(func(c *Counts) { c.Practice++ })
	s.c.Log.Info("practice game", "team", team, "game", g.id)
	return g.show(now), nil
}

func (s *Server) submit(req *protocol.Request) *protocol.Reply {
	s.mu.Lock()
	g := s.games[string(*req.Game)]
	s.mu.Unlock()
	switch {
	case g == nil:
		return fail(protocol.NoSuchGame, "no such game")
	case g.team != req.Team:
		return fail(protocol.NotYours, "the game is another team's")
	}
	r := g.submit(req, s.now())
	if r.Ret == protocol.OK {
		s.count(func(c *Counts) { c.Turns++ })
	}
	return r
}

func fail(code int, reason string) *protocol.Reply {
	return &protocol.Reply{Ret: protocol.Fail, Code: code, Reason: reason}
}

// Tick begins and closes rounds and ends games whose time has come.
func (s *Server) Tick() {
	now := s.now()
	s.mu.Lock()
	closed := s.advanceRound(now)
	for _, g := range s.games {
		g.running(now)
	}
	s.mu.Unlock()
	s.tell(closed)
}

// Close ends all games and the current round.
func (s *Server) Close() {
	s.mu.Lock()
	var closed *Round
	if s.round.games != nil {
		closed = s.closeRound(dropblox.Stopped)
	}
	for _, g := range s.games {
		g.close(dropblox.Stopped)
	}
	s.mu.Unlock()
	s.tell(closed)
}

func (s *Server) tell(r *Round) {
	if r != nil && s.c.Round != nil {
		s.out.Lock()
		defer s.out.Unlock()
		s.c.Round(*r)
	}
}

// take takes a token of a limit. It returns 0, or how long it takes until there is one.
func take(l *rate.Limiter, now time.Time) time.Duration {
	r := l.ReserveN(now, 1)
	wait := r.DelayFrom(now)
	if wait > 0 {
		r.CancelAt(now)
	}
	return wait
}

type allowance struct {
	requests, practice *rate.Limiter
	history            *dropblox.Budget // of its practice games
}

// allowance returns a team's.
func (s *Server) allowance(team string) *allowance {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.allowances[team]
	if a == nil {
		a = &allowance{
			requests: rate.NewLimiter(requestRate, requestRate),
			practice: rate.NewLimiter(rate.Limit(float64(s.c.Practice)/60), practiceBurst),
			history:  dropblox.NewBudget(s.c.HistoryBytes),
		}
		s.allowances[team] = a
	}
	return a
}

// Counts are what a server has done since its start and what goes on now.
type Counts struct {
	Teams         int
	Running       int         // games of practice and of rounds that are not over
	Practice      int         // practice games begun
	Competition   int         // games of rounds begun
	Turns         int         // turns played
	Rounds        int         // rounds that are over
	Requests      map[int]int // by status of the reply
	HistoryErrors int         // games whose history could not be written
}

func (s *Server) Counts() Counts {
	now := s.now()
	s.mu.Lock()
	running := 0
	for _, g := range s.games {
		if g.running(now) {
			running++
		}
	}
	s.mu.Unlock()
	s.counting.Lock()
	defer s.counting.Unlock()
	c := s.counts
	c.Teams, c.Running, c.Requests = s.c.Teams.Len(), running, maps.Clone(c.Requests)
	return c
}

func (s *Server) count(change func(*Counts)) {
	s.counting.Lock()
	defer s.counting.Unlock()
	change(&s.counts)
}

// Limits on connections, and times.
const (
	maxPerTeam = 16               // connections of one team
	maxFirst   = 64 << 10         // bytes of a request on a connection on which no team has logged in
	readTime   = 10 * time.Second // for one request
	writeTime  = 30 * time.Second // for a request and its answer
	tickTime   = 100 * time.Millisecond
	lingerTime = 3 * time.Second // after the last round, so that all clients learn of its end
	busyTime   = 2 * time.Second // before a password is sent again
)

// Serve runs the contest until ctx or the last round ends, and then ends all games. The error is the listener's.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	h := web.NewServer(s, web.Limits{Read: readTime, Write: writeTime, HeaderBytes: 16 << 10, PerMember: maxPerTeam,
		Names: s.c.Names})
	defer h.Stop()
	defer s.Close()
	ended := make(chan error, 1)
	go func() { ended <- h.Serve(l) }()
	clock := time.NewTicker(tickTime)
	defer clock.Stop()
	var over <-chan time.Time
	for done := s.done; ; {
		select {
		case <-clock.C:
			s.Tick()
		case <-done:
			over, done = time.After(lingerTime), nil
		case err := <-ended:
			return err
		case <-over:
			return nil
		case <-ctx.Done():
			return nil
		}
	}
}

func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	status, reply := s.answer(w, r)
	s.count(func(c *Counts) { c.Requests[status]++ })
	text, err := json.Marshal(reply)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if web.Stranger(r) {
		w.Header().Set("Connection", "close")
	}
	w.WriteHeader(status)
	_, _ = w.Write(append(text, '\n'))
}

func (s *Server) answer(w http.ResponseWriter, r *http.Request) (status int, reply *protocol.Reply) {
	refuse := func(status int, why string) (int, *protocol.Reply) { return status, fail(status, why) }
	path := r.URL.Path
	switch {
	case path != protocol.CreatePractice && path != protocol.GetCompete && path != protocol.SubmitMove:
		return refuse(http.StatusNotFound, "no such request: "+path)
	case r.Method != http.MethodPost:
		w.Header().Set("Allow", http.MethodPost)
		return refuse(http.StatusMethodNotAllowed, "want POST")
	}
	wait := func(d time.Duration, why string) (int, *protocol.Reply) {
		seconds := strconv.Itoa(int(math.Ceil(d.Seconds()))) // Retry-After has no fractions
		w.Header().Set("Retry-After", seconds)
		return refuse(http.StatusTooManyRequests, why+": try again in "+seconds+" s")
	}
	limit := int64(protocol.MaxRequest)
	if web.Stranger(r) {
		limit = maxFirst
	}
	q, err := protocol.ReadRequest(http.MaxBytesReader(w, r.Body, limit))
	switch {
	case errors.As(err, new(*http.MaxBytesError)):
		return refuse(http.StatusRequestEntityTooLarge, fmt.Sprintf("%v: want at most %d bytes", err, limit))
	case err != nil:
		return refuse(http.StatusBadRequest, err.Error())
	}
	ok, err := s.c.Teams.Check(r.Context(), web.Asked(r), q.Team, q.Password)
	switch {
	case err != nil: // teams.ErrBusy, or nobody waits for the reply
		return wait(busyTime, err.Error())
	case !ok:
		return refuse(http.StatusUnauthorized, "wrong team name or password")
	}
	web.Known(r, q.Team)
	used := s.allowance(q.Team)
	if d := take(used.requests, s.now()); d > 0 {
		return wait(d, fmt.Sprintf("more than %d requests per second of team %s", requestRate, q.Team))
	}
	switch path {
	case protocol.CreatePractice:
		if d := take(used.practice, s.now()); d > 0 {
			return wait(d, fmt.Sprintf("more than %d practice games per minute of team %s", s.c.Practice, q.Team))
		}
		reply, err = s.create(q.Team)
	case protocol.GetCompete:
		reply, err = s.compete(q.Team)
	default:
		if err := q.CheckMove(); err != nil {
			return refuse(http.StatusBadRequest, err.Error())
		}
		reply = s.submit(q)
	}
	if err != nil {
		s.c.Log.Error("the game cannot be created", "request", path, "team", q.Team, "err", err)
		return refuse(http.StatusInternalServerError, "the game cannot be created")
	}
	return http.StatusOK, reply
}
