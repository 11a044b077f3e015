// Package openenv serves a game to language agents by the OpenEnv standard: observations, legal moves and moves are
// text. rpc/python/docs/openenv.md describes it for users.
//
//	GET  /health /metadata /schema /openapi.json    facts, which need no token
//	POST /reset /step, GET /state                   an episode by its episode_id (http.go)
//	GET  /ws                                        a WebSocket: a session with an episode of its own (websocket.go)
//	POST /mcp                                       the game as tools, by MCP or as plain JSON-RPC (mcp.go)
//
// All of them play sessions (session.go). A session is a batch of one game. It counts towards the limits of the server
// and of its token as a connection does, and is closed when nobody has used it for Config.Idle.
//
// Web pages of other sites cannot reach a game, as package web promises.
package openenv

import (
	"cmp"
	"fmt"
	"log/slog"
	"maps"
	"math"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"blockyard/agents/bots"
	"blockyard/datasets/program/web"
	"blockyard/datasets/record"
	"blockyard/env"
	"blockyard/env/vec"
	"blockyard/rpc/session/batch"
	"blockyard/rpc/session/limits"
)

// A Server serves one game until Close. Drain and Close may be called on nil.
type Server struct {
	c        Config
	limits   limits.Limits
	http     *web.Server
	draining atomic.Bool
	syncing  atomic.Bool // the records will soon be on the disk

	mu       sync.Mutex
	episodes map[place]*session

	methods []method
	tools   []*mcp.Tool // the same
	mcp     *mcp.Server
	mcpHTTP http.Handler
	texts   []atomic.Pointer[string] // of the actions, as far as they are known
}

// New returns a server. Serve starts it.
func New(c Config) (*Server, error) {
	c, err := c.check()
	if err != nil {
		return nil, err
	}
	offered, err := only(c.Tools)
	if err != nil {
		return nil, err
	}
	s := &Server{c: c, episodes: map[place]*session{}, limits: c.Ledger.For(nil), methods: offered,
		texts: make([]atomic.Pointer[string], c.Game.Actions)}
	s.limits.MaxMessage = min(s.limits.MaxMessage, mostMessage)
	s.newMCP()
	most := connections * s.limits.MaxSessions
	s.http = web.NewServer(s.Handler(), web.Limits{Header: s.limits.HelloTimeout, Read: -1, Write: -1,
		Idle: s.limits.FrameTimeout, HeaderBytes: 16 << 10, Strangers: most, Members: most, PerMember: most, Names: c.Names,
		Log: c.Log})
	return s, nil
}

// text returns the text of an action. Most games use few of theirs again and again.
func (s *Server) text(a env.Action) string {
	if t := s.texts[a].Load(); t != nil {
		return *t
	}
	t := s.c.Game.Text(a)
	s.texts[a].Store(&t)
	return t
}

// connections is how many connections there may be for each session: one that plays, and one that asks for facts.
const connections = 2

// Serve accepts connections from l until it is closed or Close is called.
func (s *Server) Serve(l net.Listener) error {
	return s.http.Serve(l)
}

// Drain refuses new sessions and episodes; those that exist go on.
func (s *Server) Drain() {
	if s != nil {
		s.draining.Store(true)
	}
}

// Close ends all sessions and connections.
func (s *Server) Close() error {
	if s == nil {
		return nil
	}
	s.Drain()
	s.mu.Lock()
	all := slices.Collect(maps.Values(s.episodes))
	s.mu.Unlock()
	for _, p := range all {
		p.close()
	}
	for _, p := range slices.Collect(s.mcp.Sessions()) {
		_ = p.Close() // the client may have gone first
	}
	return s.http.Close()
}

// Config configures a Server. Zero values are defaults, but for Game, Opponent and Ledger.
type Config struct {
	Game      *env.Game
	Seats     int              // 0 means Game.MinSeats
	Seat      int              // the client's, unless its reset names another
	Opponent  vec.AgentFactory // plays the other seats
	Opponents string           // the spec of Opponent, for people
	Reward    vec.Reward
	Penalty   float64 // of an illegal move: the reward is minus this, and the position stays as it is
	StepLimit int     // moves, illegal ones included, after which an episode is truncated; 0 means never
	HideLegal bool    // legal moves are in no observation, text or error: only the tool legal_moves lists them
	// StepReward weighs the potential of positions, whose change in a step is added to the reward; see potential.
	StepReward float64
	Rules      string // the rules of the game for readers, as Markdown
	Version    string
	Tools      []string // that clients may call, by name; nil for all of Tools

	Values Values // of the moves in children; nil for none
	Unit   string // of Values, for people

	Records *record.Writer // gets the episodes that are over; nil for no records

	Ledger *limits.Ledger // of the server: its limits and tokens, and what is counted
	Names  web.Names      // by which clients call this server; see package web
	Idle   time.Duration  // after which a session that nobody uses is closed
	Log    *slog.Logger

	agents batch.Agents // makes Opponent
}

// Limits of requests and of what a client names, in bytes.
const (
	mostMessage = 64 << 10
	mostID      = 255
)

// DefaultIdle leaves a language model time to think.
const DefaultIdle = 30 * time.Minute

// check returns c with its defaults, or an error that names the field.
func (c Config) check() (Config, error) {
	c.Seats = cmp.Or(c.Seats, c.Game.MinSeats)
	c.Idle = cmp.Or(c.Idle, DefaultIdle)
	c.Log = cmp.Or(c.Log, slog.New(slog.DiscardHandler))
	if c.Reward == vec.RewardDefault {
		c.Reward = vec.DefaultReward(c.Game)
	}
	c.agents.New = func(*env.Game, bots.Text) (vec.AgentFactory, error) { return c.Opponent, nil }
	name := c.Game.Name
	switch {
	case c.Seats < c.Game.MinSeats || c.Seats > c.Game.MaxSeats:
		return c, fmt.Errorf("%s has %d to %d seats, got %d", name, c.Game.MinSeats, c.Game.MaxSeats, c.Seats)
	case c.checkSeat(c.Seat) != nil:
		return c, c.checkSeat(c.Seat)
	case c.Seats > 1 && c.Opponent == nil:
		return c, fmt.Errorf("%s has %d seats: want an opponent for the others", name, c.Seats)
	case c.StepLimit < 0:
		return c, fmt.Errorf("the step limit is %d, want at least 0", c.StepLimit)
	case c.Idle < time.Second:
		return c, fmt.Errorf("the idle time-out is %v, want at least 1s", c.Idle)
	case !(c.Penalty >= 0) || math.IsInf(c.Penalty, 0):
		return c, fmt.Errorf("the penalty of an illegal move is %v, want a number of at least 0", c.Penalty)
	case !(c.StepReward >= 0) || math.IsInf(c.StepReward, 0):
		return c, fmt.Errorf("the weight of the step reward is %v, want a number of at least 0", c.StepReward)
	case c.StepReward > 0 && c.Values == nil:
		return c, fmt.Errorf("%s has no agent learned, whose values a step reward needs: leave it out", name)
	}
	return c, c.Names.Validate()
}

func (c *Config) checkSeat(seat int) error {
	if seat < 0 || seat >= c.Seats {
		return fmt.Errorf("seat is %d, want 0 to %d", seat, c.Seats-1)
	}
	return nil
}
