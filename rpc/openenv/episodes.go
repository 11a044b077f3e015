package openenv

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"blockyard/rpc/wire"
)

// A place is where a session is found: by the name of the client's token and the id of the episode. Sessions that play
// one WebSocket have no id, and nobody finds them.
type place struct{ token, id string }

// find returns the session of an id, or, if it is "", of the episode without a name.
func (s *Server) find(secret, id string) (*session, error) {
	token, err := s.c.Guests.Recognize(secret)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if id == "" {
		if id = s.unnamed[token]; id == "" {
			return nil, badRequest(errReset)
		}
	}
	if p := s.episodes[place{token, id}]; p != nil {
		return p, nil
	}
	return nil, gone(fmt.Errorf("no episode %.80q: send a reset (one that nobody uses for %v is closed)", id, s.c.Idle))
}

// reset begins an episode in the session of its id, which it creates if there is none.
func (s *Server) reset(secret string, o resetOptions) (*result, error) {
	p, created, err := s.open(secret, o.EpisodeID, nil)
	if err != nil {
		return nil, err
	}
	o.EpisodeID = p.at.id
	r, err := p.reset(o)
	if err != nil && created {
		p.close()
	}
	return r, err
}

// open returns the session of an id and whether it has created it, as a branch of parent unless that is nil. Clients
// that name no id share one episode for each token. If there are too many, one whose episode is over makes room.
func (s *Server) open(secret, id string, parent *session) (p *session, created bool, err error) {
	token, err := s.c.Guests.Recognize(secret)
	if err != nil {
		return nil, false, err
	}
	for {
		p, created, err = s.enter(secret, place{token, id}, parent)
		var refused *wire.Error
		if err == nil || !errors.As(err, &refused) || refused.Code != wire.Limit {
			return p, created, err
		}
		old := s.oldest(token)
		if old == nil {
			return nil, false, err
		}
		old.close()
	}
}

// enter is open without making room.
func (s *Server) enter(secret string, at place, parent *session) (p *session, created bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	unnamed := at.id == ""
	if unnamed {
		at.id = cmp.Or(s.unnamed[at.token], rand.Text())
	}
	if p := s.episodes[at]; p != nil {
		return p, false, nil
	}
	if p, err = s.admit(secret, at, parent); err != nil {
		return nil, false, err
	}
	if unnamed {
		s.unnamed[at.token] = at.id
	}
	s.episodes[at] = p
	return p, true, nil
}

// oldest returns that session of a token whose episode has been over for the longest time, nil if there is none.
// Sessions of MCP end themselves.
func (s *Server) oldest(token string) (found *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var since time.Time
	for at, p := range s.episodes {
		if at.token != token || strings.HasPrefix(at.id, mcpPrefix) {
			continue
		}
		if used, over := p.over(); over && (found == nil || used.Before(since)) {
			since, found = used, p
		}
	}
	return found
}

// forget removes a session that is closed, and returns its branches. It can have no more.
func (s *Server) forget(p *session) (branches []*session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p.gone = true
	delete(s.sessions, p)
	if p.parent != nil {
		delete(p.parent.forks, p)
	}
	if s.episodes[p.at] == p {
		delete(s.episodes, p.at)
		if s.unnamed[p.at.token] == p.at.id {
			delete(s.unnamed, p.at.token)
		}
	}
	return slices.Collect(maps.Keys(p.forks))
}
