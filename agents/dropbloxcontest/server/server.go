// Package server is a Dropblox contest's server (section 15 of the rules): practice games
// whenever a team wants one, and rounds in which all teams play the same blocks at the same
// time.
//
// Every reply is JSON. Wrong names or passwords are answered with status 401, requests that
// make no sense with a status from 400 that says what is wrong with them; everything else
// is status 200 and says ret ok, wait or fail.
package server

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"blockyard/agents/dropbloxcontest"
	"blockyard/agents/dropbloxcontest/protocol"
	"blockyard/agents/dropbloxcontest/teams"
)

// Bounds of what is kept of a team.
const (
	running = 4 // practice games at once; one more ends the oldest
	kept    = 8 // practice games in all, finished ones included
)

// Config is how a contest is held.
type Config struct {
	Teams   *teams.Guard
	Clock   time.Duration // of a game
	History string        // folder for the games; "" keeps none
	Rounds  int           // of the competition; 0 is no end of them
	Players int           // teams that must be waiting for a round to begin
	Start   time.Time     // or the time at which the first one begins, if not zero
	Notice  time.Duration // between the last team's coming and the round
	Seed    func() string // of a round; nil draws from -2^31 to 2^31-1
	// Round gets every round that was closed, Log everything else worth knowing. They are
	// called from several goroutines, never two at once, and may be nil.
	Round func(Round)
	Log   func(text string)
}

// A Server holds a contest. It is safe for concurrent use.
type Server struct {
	c    Config
	now  func() time.Time
	done chan struct{} // closed after the last round

	mu       sync.Mutex
	games    map[string]*game   // by id
	practice map[string][]*game // by team, the oldest first
	round    round

	out sync.Mutex // of Round and Log
}

// New makes a server. Tick must be called about ten times a second.
func New(c Config) *Server {
	if c.Seed == nil {
		c.Seed = randomSeed
	}
	c.Players = max(1, c.Players)
	return &Server{
		c: c, now: time.Now, done: make(chan struct{}), games: map[string]*game{}, practice: map[string][]*game{},
		round: round{number: 1, begins: c.Start, waiting: map[string]time.Time{}},
	}
}

func randomSeed() string {
	var b [4]byte
	_, _ = rand.Read(b[:]) // never fails
	return strconv.Itoa(int(int32(binary.LittleEndian.Uint32(b[:]))))
}

// Done is closed when the last round is.
func (s *Server) Done() <-chan struct{} { return s.done }

func (s *Server) log(format string, args ...any) {
	if s.c.Log != nil {
		s.out.Lock()
		defer s.out.Unlock()
		s.c.Log(fmt.Sprintf(format, args...))
	}
}

// historyFailed is told when a folder cannot be written.
func (s *Server) historyFailed(err error) { s.log("history: %v", err) }

// create starts a practice game.
func (s *Server) create(team string) (*protocol.Reply, error) {
	now := s.now()
	g, err := newGame(team, "practice", dropbloxcontest.RandomSeed(), s.c.History, now, s.c.Clock, s.historyFailed)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	s.games[g.id] = g
	list := append(append([]*game(nil), s.practice[team]...), g)
	going, over := split(list, now)
	for ; len(going) > running; going = going[1:] {
		going[0].close(dropbloxcontest.Stopped)
		over = append(over, going[0])
	}
	for ; len(going)+len(over) > kept; over = over[1:] {
		delete(s.games, over[0].id)
		list = slices.DeleteFunc(list, func(g *game) bool { return g == over[0] })
	}
	s.practice[team] = list
	s.mu.Unlock()
	s.log("%s practises: game %s", team, g.id)
	return g.show(now), nil
}

// split parts games that go on from those that are over, each the oldest first.
func split(list []*game, now time.Time) (going, over []*game) {
	for _, g := range list {
		if g.running(now) {
			going = append(going, g)
		} else {
			over = append(over, g)
		}
	}
	return going, over
}

// submit takes a turn.
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
	return g.submit(req, s.now())
}

func fail(code int, reason string) *protocol.Reply {
	return &protocol.Reply{Ret: protocol.Fail, Code: code, Reason: reason}
}

// Tick does what is due by the clock: it begins and closes rounds and ends games.
func (s *Server) Tick() {
	now := s.now()
	s.mu.Lock()
	closed := s.turnRound(now)
	for _, g := range s.games {
		g.running(now)
	}
	s.mu.Unlock()
	s.tell(closed)
}

// Close ends all games and the round there is.
func (s *Server) Close() {
	s.mu.Lock()
	var closed *Round
	if s.round.games != nil {
		closed = s.closeRound(dropbloxcontest.Stopped)
	}
	for _, g := range s.games {
		g.close(dropbloxcontest.Stopped)
	}
	s.mu.Unlock()
	s.tell(closed)
}

// tell hands on a round that was closed.
func (s *Server) tell(r *Round) {
	if r != nil && s.c.Round != nil {
		s.out.Lock()
		defer s.out.Unlock()
		s.c.Round(*r)
	}
}
