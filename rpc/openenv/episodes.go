package openenv

import (
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"blockyard/rpc/wire"
)

// episodes are the sessions of clients without a connection of their own, by the client's token and the episode's id.
// Clients that name no episode share one for each token: a reset begins it again.
type episodes struct {
	srv *Server

	mu      sync.Mutex
	all     map[place]*session
	unnamed map[string]string // by token: the id of the episode without a name
}

// A place is where a session is found.
type place struct{ token, id string }

func newEpisodes(s *Server) episodes {
	return episodes{srv: s, all: map[place]*session{}, unnamed: map[string]string{}}
}

// find returns the session of an id, or, if it is "", of the episode without a name.
func (e *episodes) find(secret, id string) (*session, error) {
	token, err := e.srv.c.Guests.Recognize(secret)
	if err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if id == "" {
		if id = e.unnamed[token]; id == "" {
			return nil, badRequest(errReset)
		}
	}
	if p := e.all[place{token, id}]; p != nil {
		return p, nil
	}
	return nil, gone(fmt.Errorf("no episode %.80q: send a reset (one that nobody uses for %v is closed)",
		id, e.srv.c.Idle))
}

// reset begins an episode in the session of its id, which it creates if there is none.
func (e *episodes) reset(secret string, o resetOptions) (*result, error) {
	p, created, err := e.open(secret, &o.EpisodeID, false)
	if err != nil {
		return nil, err
	}
	r, err := p.reset(o)
	if err != nil && created {
		p.close()
	}
	return r, err
}

// open returns the session of an id and whether it has created it. An empty id becomes that of the episode without a
// name, or, with fresh, a new one.
func (e *episodes) open(secret string, id *string, fresh bool) (p *session, created bool, err error) {
	token, err := e.srv.c.Guests.Recognize(secret)
	if err != nil {
		return nil, false, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	name := *id
	if name == "" && !fresh {
		name = e.unnamed[token]
	}
	if p := e.all[place{token, name}]; p != nil {
		*id = name
		return p, false, nil
	}
	unnamed := name == "" && !fresh
	if name == "" {
		name = rand.Text()
	}
	at := place{token, name}
	if p, err = e.admit(secret, at); err != nil {
		return nil, false, err
	}
	if unnamed {
		e.unnamed[token] = name
	}
	*id, e.all[at] = name, p
	return p, true, nil
}

// fork admits a session for a branch of p.
func (e *episodes) fork(p *session, id string) (*session, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	at := place{p.token, id}
	f, err := e.admit(p.secret, at)
	if err != nil {
		return nil, err
	}
	if !e.srv.adopt(p, f) {
		f.close()
		return nil, errClosed
	}
	e.all[at] = f
	return f, nil
}

// room fails if open would refuse one more session of a token.
func (e *episodes) room(secret string) error {
	token, err := e.srv.c.Guests.Recognize(secret)
	if err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	p, err := e.admit(secret, place{token: token})
	if err == nil {
		p.close()
	}
	return err
}

// admit returns a new session. If there are too many, one whose episode is over makes room.
func (e *episodes) admit(secret string, at place) (*session, error) {
	for {
		var p *session
		var err error
		p, err = e.srv.newSession(secret, func() { e.forget(at, p) })
		var refused *wire.Error
		if err == nil || !errors.As(err, &refused) || refused.Code != wire.Limit || !e.drop(at.token) {
			return p, err
		}
	}
}

// forget removes a closed session.
func (e *episodes) forget(at place, p *session) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.all[at] == p {
		delete(e.all, at)
		if e.unnamed[at.token] == at.id {
			delete(e.unnamed, at.token)
		}
	}
}

// drop closes that session of a token whose episode has been over for the longest time, and reports whether there is
// one. Sessions of MCP end themselves.
func (e *episodes) drop(token string) bool {
	var oldest time.Time
	var found place
	for at, p := range e.all {
		if at.token != token || strings.HasPrefix(at.id, mcpPrefix) {
			continue
		}
		if used, over := p.over(); over && (oldest.IsZero() || used.Before(oldest)) {
			oldest, found = used, at
		}
	}
	p := e.all[found]
	if p == nil {
		return false
	}
	p.close()
	delete(e.all, found)
	return true
}
