package server

import (
	"cmp"
	"slices"

	"blockyard/env"
)

// MaxWatched is the largest number of games that Watch returns.
const MaxWatched = 64

// A WatchedGame is a copy of one game of a client as it was between two requests of the client.
type WatchedGame struct {
	Session uint64
	Handle  uint32
	Env     int // its number in the handle
	Game    *env.Game
	State   env.State // must not be changed
	Players []string  // of every seat: an opponent's name, or "client"
	Steps   int       // of the episode so far
}

// A Watched is the games that somebody watches, as they were copied last.
type Watched struct {
	Games   []WatchedGame // in the order of sessions, handles and numbers
	Handles int           // open with the token
	Envs    int           // in these handles
	Known   bool          // every handle that should show games has done so
}

// watchedGames are the games of a handle that somebody watches, and their last copies.
type watchedGames struct {
	wanted int // the first games of the handle: how many are copied next
	games  []WatchedGame
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
			out.Games = append(out.Games, last.games[:min(share, len(last.games))]...)
		} else {
			out.Known = false
		}
		h.toWatch.Store(&watchedGames{wanted: share})
	}
	return out, nil
}

// showWatched copies the games that somebody watches, after every request. Games in flight keep their last copies.
func (h *handle) showWatched() {
	if h.toWatch.Load() == nil { // cheaper than to swap after every request
		return
	}
	next := h.toWatch.Swap(nil) // only this goroutine takes it
	last, driven := h.watched.Load(), slices.Repeat([]string{"client"}, h.Config.Seats)
	for i := range next.wanted {
		if h.Stream != nil && !h.Stream.Idle(i) {
			if last != nil && i < len(last.games) {
				next.games = append(next.games, last.games[i])
			}
			continue
		}
		if !h.Env.Live(i) {
			continue // it has no position yet
		}
		g := WatchedGame{Session: h.session, Handle: h.ID, Env: i, Game: h.Game, Steps: h.Env.Steps(i)}
		g.State = h.Game.New(h.Config.Seats)
		g.State.CopyFrom(h.Env.State(i))
		g.Players = h.Players(i, driven)
		next.games = append(next.games, g)
	}
	h.watched.Store(next)
}
