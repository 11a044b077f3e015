// Package server implements the server of a Dropblox contest (rules §15). A team
// can play practice games at any time, and all teams play the rounds of the competition, with
// the same blocks at the same time.
//
// Every reply is JSON. Its status is 200, with ok, wait or fail in the key ret; 401 for a wrong name or password; 429
// for one request too many, with the seconds to wait in the header Retry-After; and another 4xx for an invalid request,
// with the reason. Until a team has logged in on a connection, every reply closes it.
package server

import (
	"cmp"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"time"

	"blockyard/agents/contest/dropblox"
	"blockyard/agents/contest/dropblox/protocol"
	"blockyard/agents/contest/dropblox/teams"
)

// Limits on the practice games of a team.
const (
	running = 4 // at the same time; one more ends the oldest
	kept    = 8 // in all, finished games included
)

// Config configures a contest.
type Config struct {
	Teams   *teams.Guard
	Clock   time.Duration // of a game
	History string        // folder for the games; "" keeps none
	Rounds  int           // of the competition; 0 is no limit
	Players int           // number of waiting teams that begins a round
	Start   time.Time     // when the first round begins in any case, if not zero
	Notice  time.Duration // time between the arrival of the last team and the round
	Seed    func() string // returns the seed of a round; nil draws from -2^31 to 2^31-1
	// Practice is the number of practice games that a team may start per minute, DefaultPractice
	// if 0. It may start some more at once that are missing later.
	Practice int
	// HistoryBytes is the space on disk for the histories of a team's practice games, in all,
	// DefaultHistoryBytes if 0. Further games have no history.
	HistoryBytes int64
	// Round is called after every round, from several goroutines, one at a time. It may be nil.
	Round func(Round)
	Log   *slog.Logger // other events; nil for none
}

// The default limits of a team.
const (
	DefaultPractice     = 30
	DefaultHistoryBytes = 1 << 30
)

// A Server runs a contest. It is safe for concurrent use.
type Server struct {
	c    Config
	now  func() time.Time
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
	if c.Seed == nil {
		c.Seed = randomSeed
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	c.Players = max(1, c.Players)
	c.Practice = cmp.Or(c.Practice, DefaultPractice)
	c.HistoryBytes = cmp.Or(c.HistoryBytes, DefaultHistoryBytes)
	return &Server{
		c: c, now: time.Now, done: make(chan struct{}), games: map[string]*game{}, practice: map[string][]*game{},
		allowances: map[string]*allowance{},

		round:  round{number: 1, begins: c.Start, waiting: map[string]time.Time{}},
		counts: Counts{Requests: map[int]int{}},
	}
}

func randomSeed() string { return strconv.Itoa(int(int32(rand.Uint32()))) }

// create starts a practice game.
func (s *Server) create(team string) (*protocol.Reply, error) {
	now := s.now()
	g, err := s.newGame(team, "practice", dropblox.RandomSeed(), now, s.allowance(team).history)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	s.games[g.id] = g
	list := append(slices.Clone(s.practice[team]), g) // the oldest first, as are its parts
	going := slices.DeleteFunc(slices.Clone(list), func(g *game) bool { return !g.running(now) })
	over := slices.DeleteFunc(slices.Clone(list), func(g *game) bool { return slices.Contains(going, g) })
	for ; len(going) > running; going = going[1:] {
		going[0].close(dropblox.Stopped)
		over = append(over, going[0])
	}
	for ; len(going)+len(over) > kept; over = over[1:] {
		delete(s.games, over[0].id)
		list = slices.DeleteFunc(list, func(g *game) bool { return g == over[0] })
	}
	s.practice[team] = list
	s.mu.Unlock()
	s.count(func(c *Counts) { c.Practice++ })
	s.c.Log.Info("practice game", "team", team, "game", g.id)
	return g.show(now), nil
}

// submit plays a turn.
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

// tell reports a closed round.
func (s *Server) tell(r *Round) {
	if r != nil && s.c.Round != nil {
		s.out.Lock()
		defer s.out.Unlock()
		s.c.Round(*r)
	}
}
