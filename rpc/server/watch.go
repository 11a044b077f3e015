package server

import (
	"cmp"
	"slices"
)

// MaxWatched is the largest number of games that Watch returns.
const MaxWatched = 64

// A Watched is the games that somebody watches, as they were copied last.
type Watched struct {
	Games   []WatchedGame // in the order of sessions, handles and numbers
	Handles int           // open with the token
	Envs    int           // in these handles
	Known   bool          // every handle that should show games has done so
}

// Watch returns copies of at most count games, spread over all handles that were opened with the same token as secret;
// it fails with a *wire.Error if no token has it. It never waits for a client: it returns what each handle copied after
// the call before, and asks it to copy again at the end of its next request. The first call therefore returns nothing
// of a handle. A call costs clients one copy of each of these games.
func (s *Server) Watch(secret string, count int) (Watched, error) {
	token, err := s.ledger.Recognize(secret)
	if err != nil {
		return Watched{}, err
	}
	var all []*handle
	s.mu.Lock()
	for h, owner := range s.open {
		if owner == token {
			all = append(all, h)
		}
	}
	s.mu.Unlock()
	out := Watched{Handles: len(all), Known: true}
	slices.SortFunc(all, func(a, b *handle) int {
		return cmp.Or(cmp.Compare(a.session, b.session), cmp.Compare(a.ID, b.ID))
	})
	count = min(count, MaxWatched)
	for k, h := range all {
		out.Envs += h.Config.Envs
		share := (count + len(all) - 1 - k) / len(all) // the parts of count add up to it
		if share = min(share, h.Config.Envs); share == 0 {
			continue
		}
		if last := h.watched.Load(); last != nil {
			out.Games = append(out.Games, (*last)[:min(share, len(*last))]...)
		} else {
			out.Known = false
		}
		h.toWatch.Store(int32(share))
	}
	return out, nil
}
