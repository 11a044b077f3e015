package openenv

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"

	"blockyard/env"
	"blockyard/env/vec"
	"blockyard/rpc/server"
)

// A session is one game at a time, of one client. Its methods may be called by several goroutines at once.
type session struct {
	srv   *Server
	token string // the name of the client's

	mu     sync.Mutex
	ctx    context.Context // of its agents
	cancel context.CancelFunc
	guest  *server.Guest
	env    *vec.Env // nil before the first reset
	batch  *vec.Batch
	legal  []env.Action
	used   time.Time
	idle   *time.Timer
	ended  func() // called once, when the session is closed
	closed bool
	socket atomic.Pointer[websocket.Conn] // the WebSocket that plays it; nil for none

	id        string
	seat      int
	seed      uint64
	steps     int // of the episode, illegal ones included
	illegal   int
	total     float64 // the sum of rewards
	done      bool
	truncated bool
}

var (
	errClosed = errors.New("the session is closed, since nobody has used it for long or the server ends: open a new one")
	errReset  = errors.New("no episode has begun: send a reset first")
	errDone   = errors.New("the episode is over: send a reset to begin the next one")
)

// newSession admits a client that sent secret. ended, which may be nil, is called when the session is closed.
func (s *Server) newSession(secret string, ended func()) (*session, error) {
	if s.draining.Load() {
		return nil, errDraining
	}
	name, err := s.c.Guests.Recognize(secret)
	if err != nil {
		return nil, err
	}
	guest, err := s.c.Guests.Admit(secret, s.c.Game, s.c.vec(s.c.Seat))
	if err != nil {
		return nil, err
	}
	p := &session{srv: s, token: name, guest: guest, used: time.Now(), ended: ended}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	s.mu.Lock()
	s.sessions[p] = struct{}{}
	s.mu.Unlock()
	p.idle = time.AfterFunc(s.c.Idle, p.expire)
	return p, nil
}

// expire closes the session if it has not been used for the idle time.
func (p *session) expire() {
	p.mu.Lock()
	left := p.srv.c.Idle - time.Since(p.used)
	p.mu.Unlock()
	if left > 0 {
		p.idle.Reset(left)
		return
	}
	p.close()
}

// close ends the session. Further calls do nothing.
func (p *session) close() {
	p.cancel() // an opponent that thinks answers now
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return
	}
	p.closed = true
	p.idle.Stop()
	if p.env != nil {
		if err := p.env.Close(); err != nil {
			p.srv.c.Log.Warn("close", "episode", p.id, "err", err)
		}
	}
	p.guest.Leave()
	p.srv.mu.Lock()
	delete(p.srv.sessions, p)
	p.srv.mu.Unlock()
	if p.ended != nil {
		go p.ended()
	}
}

// over reports whether the episode is over, and when the session was last used. It does not wait for one that plays.
func (p *session) over() (used time.Time, over bool) {
	if !p.mu.TryLock() {
		return used, false
	}
	defer p.mu.Unlock()
	return p.used, p.done
}

// touch notes that the session is in use.
func (p *session) touch() {
	if p.mu.TryLock() { // otherwise it is
		p.used = time.Now()
		p.mu.Unlock()
	}
}

// resetOptions are the arguments of reset. As the standard says, unknown ones are ignored.
type resetOptions struct {
	Seed      *uint64 `json:"seed"`       // nil draws one
	EpisodeID string  `json:"episode_id"` // "" draws one
	Seat      *int    `json:"seat"`       // nil is Config.Seat
}

// reset begins an episode and returns its first observation.
func (p *session) reset(o resetOptions) (*result, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.use(); err != nil {
		return nil, err
	}
	return p.begin(o)
}

// begin is reset for a caller that holds p.mu.
func (p *session) begin(o resetOptions) (*result, error) {
	seat := p.srv.c.Seat
	if o.Seat != nil {
		seat = *o.Seat
	}
	if err := p.srv.c.checkSeat(seat); err != nil {
		return nil, invalid(err)
	}
	if len(o.EpisodeID) > mostID {
		return nil, invalid(fmt.Errorf("episode_id has %d bytes, want at most %d", len(o.EpisodeID), mostID))
	}
	if err := p.sit(seat); err != nil {
		return nil, err
	}
	p.seed = mathrand.Uint64N(1 << 53) // a whole number in every JSON reader
	if o.Seed != nil {
		p.seed = *o.Seed
	}
	p.id = cmp.Or(o.EpisodeID, rand.Text())
	p.steps, p.illegal, p.total, p.done, p.truncated = 0, 0, 0, false, false
	if err := p.env.Reset(vec.From(p.seed), nil, p.batch); err != nil {
		return nil, p.unlessClosed(err)
	}
	return p.result(nil, ""), nil
}

// unlessClosed is the error of a game, unless close has interrupted it.
func (p *session) unlessClosed(err error) error {
	if p.ctx.Err() != nil {
		return errClosed
	}
	return err
}

// use fails if the session is closed.
func (p *session) use() error {
	p.used = time.Now()
	if p.closed {
		return errClosed
	}
	return nil
}

// sit gives the client a seat.
func (p *session) sit(seat int) error {
	if p.env != nil && p.seat == seat {
		return nil
	}
	if p.env != nil {
		if err := p.env.Close(); err != nil {
			return err
		}
		p.env = nil
	}
	c := p.srv.c.vec(seat)
	c.Context = p.ctx
	e, err := vec.New(p.srv.c.Game, c)
	if err != nil {
		return err
	}
	if p.batch, err = e.NewBatch("reward", "terminated"); err != nil {
		return errors.Join(err, e.Close())
	}
	p.env, p.seat = e, seat
	return nil
}

// play plays a move. An illegal one changes nothing but the counts and earns the penalty.
func (p *session) play(move string) (*result, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch err := p.use(); {
	case err != nil:
		return nil, err
	case p.env == nil:
		return nil, badRequest(errReset)
	case p.done:
		return nil, badRequest(errDone)
	}
	reward, wrong := -p.srv.c.Penalty, ""
	if a, err := p.choose(move); err != nil {
		wrong = err.Error()
		p.illegal++
	} else {
		began := time.Now()
		if err := p.env.Step([]env.Action{a}, p.batch); err != nil {
			return nil, p.unlessClosed(err)
		}
		p.guest.Stepped(p.env, time.Since(began))
		reward, p.done = float64(p.batch.Reward[p.seat]), p.batch.Terminated[0] != 0
	}
	p.steps++
	p.total += reward
	if limit := p.srv.c.StepLimit; limit > 0 && p.steps >= limit && !p.done {
		p.done, p.truncated = true, true
	}
	return p.result(&reward, wrong), nil
}

// choose returns the action of a text, or an error that says why it is not legal.
func (p *session) choose(move string) (env.Action, error) {
	p.legal = p.env.Legal(0, 0, p.legal[:0])
	g := p.srv.c.Game
	a, err := g.Parse(strings.TrimSpace(move))
	example := p.srv.text(p.legal[len(p.legal)/2])
	if err != nil {
		return 0, fmt.Errorf("%.60q is no move of %s: choose one of the %d legal_moves, such as %q",
			move, g.Name, len(p.legal), example)
	}
	if _, ok := slices.BinarySearch(p.legal, a); !ok {
		return 0, fmt.Errorf("%.60q is not legal here: choose one of the %d legal_moves, such as %q",
			move, len(p.legal), example)
	}
	return a, nil
}
