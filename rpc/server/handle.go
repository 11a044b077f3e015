package server

import (
	"slices"
	"sync/atomic"
	"time"

	"blockyard/env"
	"blockyard/rpc/session/batch"
)

// A handle is a batch of a session. Only the answering goroutine of its session uses it; see Quick for the exception.
type handle struct {
	*batch.Batch
	session uint64                        // number of the session that opened it
	toWatch atomic.Int32                  // how many games, its first ones, to copy after the next request
	watched atomic.Pointer[[]WatchedGame] // the last copies; nil if nobody has watched

	alone  bool          // the server plays no seat
	took   time.Duration // duration of the last step
	pushes bool          // the last observations of games follow the step that ended them
	reply  []byte        // the response of recv
}

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

// showWatched copies the games that somebody watches, after every request. Games in flight keep their last copies.
func (h *handle) showWatched() {
	if h.toWatch.Load() == 0 { // cheaper than to swap after every request
		return
	}
	var games []WatchedGame
	last, driven := h.watched.Load(), slices.Repeat([]string{"client"}, h.Config.Seats)
	for i := range int(h.toWatch.Swap(0)) { // only this goroutine takes it
		if h.Stream != nil && !h.Stream.Idle(i) {
			if last != nil && i < len(*last) {
				games = append(games, (*last)[i])
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
		games = append(games, g)
	}
	h.watched.Store(&games)
}
