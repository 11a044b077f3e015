// Package openenv serves a game to language agents by the OpenEnv standard: observations, legal moves and moves are
// text. rpc/python/docs/openenv.md describes it for users.
//
//	GET  /health /metadata /schema /openapi.json    facts, which need no token
//	POST /reset /step, GET /state                   an episode by its episode_id (episodes.go)
//	GET  /ws                                        a WebSocket: a session with an episode of its own (websocket.go)
//	POST /mcp                                       the game as tools, by MCP (mcp.go) or as plain JSON-RPC (jsonrpc.go)
//
// All of them play sessions (session.go). A session is one game in a vec.Env and a server.Guest: it counts towards the
// limits of the server and of its token, and is closed when nobody has used it for Config.Idle.
//
// Web pages cannot reach a game (guard.go): a request with the Host of a name that is not ours, as after DNS
// rebinding, or with the Origin of another site is refused.
package openenv

import (
	"maps"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"blockyard/datasets/program/web"
	"blockyard/env"
	"blockyard/rpc/server/limits"
)

// A Server serves one game until Close. Drain and Close may be called on nil.
type Server struct {
	c        Config
	limits   limits.Limits
	http     *web.Server
	draining atomic.Bool

	mu       sync.Mutex
	sessions map[*session]struct{}
	episodes map[place]*session // those of clients without a connection of their own
	unnamed  map[string]string  // by token: the id of the episode without a name

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
	s := &Server{c: c, sessions: map[*session]struct{}{}, episodes: map[place]*session{}, unnamed: map[string]string{},
		limits: c.Guests.Limits(), methods: methods(), texts: make([]atomic.Pointer[string], c.Game.Actions)}
	s.limits.MaxMessage = min(s.limits.MaxMessage, mostMessage)
	s.newMCP()
	most := connections * s.limits.MaxSessions
	s.http = web.NewServer(s.Handler(), web.Limits{Header: s.limits.HelloTimeout, Read: -1, Write: -1,
		Idle: s.limits.FrameTimeout, HeaderBytes: 16 << 10, Strangers: most, Members: most, PerMember: most, Log: c.Log})
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
	all := slices.Collect(maps.Keys(s.sessions))
	s.mu.Unlock()
	for _, p := range all {
		p.close()
	}
	for _, p := range slices.Collect(s.mcp.Sessions()) {
		_ = p.Close() // the client may have gone first
	}
	return s.http.Close()
}
