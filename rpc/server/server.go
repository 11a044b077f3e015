// Package server plays games for clients over connections. ../PROTOCOL.md is its specification.
//
// A connection is a session with two goroutines: one reads requests and refuses those over a limit, the other answers
// them in order. The queue between them holds as many requests as the limit max_inflight allows. A session owns its
// handles and frees them when the connection ends, for whatever reason. A handle is a vec.Env, that is, many games that
// a client opened together, and its slab: the memory that holds the result of one step of all of them.
//
// Two rules keep a step fast. First, it allocates no memory. Second, each slab is written only once:
// directly in the memory from which it is sent, or in memory that is shared with the client. A client
// may write to shared memory at any time; the server therefore copies actions out of it before using
// them, and keeps what it needs after writing a slab in private memory as well (see share.go of package batch).
package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"blockyard/agents/bots"
	"blockyard/agents/bots/entry"
	"blockyard/agents/bots/features"
	"blockyard/env"
	"blockyard/env/vec"
	"blockyard/rpc/server/link"
	"blockyard/rpc/session/limits"
	"blockyard/rpc/wire"
)

// A Config is what a Server offers, to whom, and within which limits.
type Config struct {
	Games   []*env.Game // each game comes before its variants
	Version string      // for the response to hello
	// Agents parses the text of an opponent or policy, with the weights that the client uploaded. The text is foreign,
	// unless clients are Trusted and the client itself has written it. Opponents lists some texts that Agents accepts.
	// If Agents is nil, clients cannot name any.
	Agents func(g *env.Game, t bots.Text) (vec.AgentFactory, error)
	// AgentMemory returns the most that the agents of a text take, without making them; nil if next to nothing.
	AgentMemory func(g *env.Game, t bots.Text) (entry.Memory, error)
	Trusted     bool // whether clients may name files and programs of this machine; they are told
	Opponents   func(g *env.Game) []string
	Features    func(g *env.Game) *features.Set // inputs of networks for g; nil if it defines none
	Tokens      []limits.Token                  // clients must send one of them in hello; nil for no token
	Workers     int                             // goroutines that step one handle; 0 is GOMAXPROCS
	Limits      limits.Limits
	Log         *slog.Logger
}

// WithBots returns the configuration with the agents of package bots.
func (c Config) WithBots() Config {
	c.Agents = func(g *env.Game, t bots.Text) (vec.AgentFactory, error) {
		factory, err := bots.New(g, t)
		return vec.AgentFactory(factory), untrusted(err)
	}
	c.AgentMemory = func(g *env.Game, t bots.Text) (entry.Memory, error) {
		a, err := bots.Parse(g, t)
		if err != nil {
			return entry.Memory{}, untrusted(err)
		}
		return a.Memory(), nil
	}
	c.Opponents, c.Features = bots.Names, bots.Features
	return c
}

// untrusted tells clients what they may do instead of naming files and commands.
func untrusted(err error) error {
	if errors.Is(err, bots.ErrUntrusted) {
		return errors.New("clients may not name files or commands of the server's machine, but may upload weights; " +
			"serve --trust-specs allows it, but not in checkpoints that name others than the environment does")
	}
	return err
}

// A Server serves connections until Shutdown.
type Server struct {
	c     Config
	link  link.Config // of every connection
	log   *slog.Logger
	begun time.Time

	mu    sync.Mutex
	links map[*link.Link]struct{}    // every connection
	open  map[*handle]*limits.Holder // every open handle, with its session's token
	ids   uint64
	quiet time.Time // when the last connection ended

	wg       sync.WaitGroup
	drain    atomic.Bool
	ledger   *limits.Ledger
	failures map[int]*atomic.Uint64 // responses with an error by code
}

// Ledger returns what bounds and counts the sessions of this server, for those over other protocols.
func (s *Server) Ledger() *limits.Ledger { return s.ledger }

// Idle returns how long there has been no connection, and no session in the ledger; 0 if there is one.
func (s *Server) Idle() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.links) > 0 {
		return 0
	}
	return min(time.Since(s.quiet), s.ledger.Idle())
}

// AwaitIdle waits until no session is left or ctx ends.
func (s *Server) AwaitIdle(ctx context.Context) {
	for ctx.Err() == nil && s.Idle() == 0 {
		time.Sleep(5 * time.Millisecond)
	}
}

// linger is the shortest time for which a draining server still answers.
const linger = 100 * time.Millisecond

// Shutdown answers new requests with the error draining, waits for the requests in flight until
// Limits.DrainTimeout has passed or ctx ends, then closes every connection and returns when all
// sessions are freed. The caller must close the listeners first.
func (s *Server) Shutdown(ctx context.Context) error {
	s.drain.Store(true)
	ctx, cancel := context.WithTimeout(ctx, s.c.Limits.DrainTimeout)
	defer cancel()
	least := time.Now().Add(linger)
	for ctx.Err() == nil && (s.inflight() > 0 || time.Now().Before(least) && s.Idle() == 0) {
		time.Sleep(5 * time.Millisecond)
	}
	s.mu.Lock()
	for l := range s.links {
		l.End()
	}
	s.mu.Unlock()
	s.wg.Wait()
	return nil
}

func (s *Server) inflight() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for l := range s.links {
		n += int(l.Inflight.Load())
	}
	return n
}

// Counts are what a server has done since its start and what is open now. They may be read at any time.
type Counts struct {
	*limits.Totals
	Errors map[int]uint64 // how many requests failed, by code

	limits.Open                      // now; Memory is bytes towards MaxMemory
	RequestMemory, ReplyMemory int64 // bytes towards MaxBuffered and MaxReplies
	RequestMemoryLimit         int64 // MaxBuffered without each session's own share, like RequestMemory
}

// Counts returns what the server has done and has open.
func (s *Server) Counts() Counts {
	c := Counts{Totals: &s.ledger.Totals, ReplyMemory: s.ledger.Replies.Held(), Open: s.ledger.Open(),
		Errors: map[int]uint64{}}
	c.RequestMemory, c.RequestMemoryLimit = s.ledger.Requests.Taken()
	for code, n := range s.failures {
		c.Errors[code] = n.Load()
	}
	return c
}

// badParams is the error for a request whose params are wrong.
func badParams(format string, args ...any) *wire.Error {
	return wire.Errorf(wire.BadParams, format, args...)
}

// refusal converts an error of a method for the client. Those of vec that blame neither the request nor a game, see
// blame, are failures of agents.
func refusal(method []byte, err error) *wire.Error {
	if known, ok := errors.AsType[*wire.Error](err); ok {
		return known
	}
	method = bytes.TrimSuffix(method, []byte("_slot")) // which step the same
	if errors.Is(err, vec.ErrMisuse) {
		return badParams("%s: %v", method, err)
	}
	return wire.Errorf(wire.Opponent, "%s: %v", method, err)
}

// blame converts an error about games of a handle for the client, which numbers them from the handle's first.
func blame(method []byte, h *handle, err error) error {
	blamed, ok := errors.AsType[*vec.EnvError](err)
	if !ok {
		return err
	}
	envs := make([]int, min(len(blamed.Envs), mostNamed))
	for k := range envs {
		envs[k] = int(h.First) + blamed.Envs[k]
	}
	code, what, more := wire.Illegal, fmt.Sprintf("%v %d", blamed.Err, blamed.Action), ""
	switch a := blamed.Action; {
	case errors.Is(err, vec.ErrNeedsReset):
		code, what = wire.NeedsReset, blamed.Err.Error()
	case errors.Is(err, vec.ErrAsked):
		code, what = wire.NeedsAnswer, blamed.Err.Error()
	case int(a) < h.Game.Actions:
		what += fmt.Sprintf(" (%s)", h.Game.Text(a))
	default:
		what += fmt.Sprintf(" of %d actions", h.Game.Actions)
	}
	if n := len(blamed.Envs) - 1; n > 0 {
		more = fmt.Sprintf(" and %d more", n)
	}
	method = bytes.TrimSuffix(method, []byte("_slot")) // which step the same
	if code != wire.Illegal {
		return wire.Errorf(code, "%s: %s in environment %d%s", method, what, envs[0], more).With("envs", envs)
	}
	return wire.Errorf(code, "%s: %s in environment %d, seat %d%s", method, what, envs[0], blamed.Seat, more).
		With("envs", envs).With("row", blamed.Row).With("seat", blamed.Seat).With("action", int(blamed.Action))
}

// mostNamed is the largest number of games that an error lists.
const mostNamed = 64
