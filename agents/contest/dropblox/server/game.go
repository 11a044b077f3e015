package server

import (
	"crypto/rand"
	"errors"
	"math"
	"sync"
	"time"

	dropbloxcontest "blockyard/agents/contest/dropblox"
	"blockyard/agents/contest/dropblox/protocol"
	"blockyard/env/dropblox"
)

type game struct {
	id, team string
	began    time.Time
	clock    time.Duration

	mu     sync.Mutex
	state  dropblox.State
	reason dropbloxcontest.Reason  // why it is over; "" while it goes on
	folder *dropbloxcontest.Folder // nil after an error
	server *Server                 // counts an error of the folder
}

// newGame creates a team's game of a seed. Its history takes space from the budget.
func (s *Server) newGame(team, mode, seed string, began time.Time, space *dropbloxcontest.Budget) (*game, error) {
	g := &game{id: rand.Text()[:12], team: team, began: began, clock: s.c.Clock, server: s}
	if err := g.state.ResetSeed(seed); err != nil {
		return nil, err
	}
	meta := dropbloxcontest.Meta{ID: g.id, Seed: seed, Team: team, Mode: mode, Started: began}
	var err error
	g.folder, err = dropbloxcontest.CreateFolder(s.c.History, meta, space)
	g.wrote(err)
	g.save()
	return g, nil
}

// wrote handles the result of writing to the folder. After an error there is no further history,
// but the game goes on. If only the space was used up, the folder still gets the result.
func (g *game) wrote(err error) {
	if err == nil {
		return
	}
	if !errors.Is(err, dropbloxcontest.ErrFull) {
		g.folder = nil
	}
	g.server.count(func(c *Counts) { c.HistoryErrors++ })
	g.server.c.Log.Warn("the game goes on without further history", "game", g.id, "team", g.team, "err", err)
}

func (g *game) save() { g.wrote(g.folder.State(int(g.state.Turns), dropbloxcontest.JSON(&g.state))) }

func (g *game) over(now time.Time) bool {
	if g.reason == "" && now.Sub(g.began) > g.clock {
		g.end(dropbloxcontest.Time)
	}
	return g.reason != ""
}

func (g *game) end(why dropbloxcontest.Reason) {
	if g.reason == "" {
		g.state.Expire()
		g.save()
		g.finish(why)
	}
}

func (g *game) finish(why dropbloxcontest.Reason) {
	g.reason = why
	g.wrote(g.folder.End(int(g.state.Turns), g.state.Score(0), string(why)))
}

// move plays a turn. By the rules, words that are not commands are skipped, and "drop" ends the list.
func (g *game) move(list []string) {
	var commands []dropblox.Command
	for _, word := range list {
		if word == "drop" {
			break
		}
		if c, ok := dropblox.ParseCommand(word); ok {
			commands = append(commands, c)
		}
	}
	g.wrote(g.folder.Move(int(g.state.Turns), commands))
	g.state.Play(commands)
	g.save()
	if g.state.Failed {
		g.finish(dropbloxcontest.Blocked)
	}
}

func (g *game) close(why dropbloxcontest.Reason) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.end(why)
}

func (g *game) running(now time.Time) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return !g.over(now)
}

func (g *game) reply(ret string, now time.Time) *protocol.Reply {
	left := math.Max(0, math.Ceil((g.clock - now.Sub(g.began)).Seconds()))
	return &protocol.Reply{
		Ret: ret, Seconds: &left,
		Game: &protocol.Game{ID: protocol.ID(g.id), Moves: int(g.state.Turns), State: dropbloxcontest.JSON(&g.state)},
	}
}

func (g *game) submit(req *protocol.Request, now time.Time) *protocol.Reply {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.over(now):
		r := g.reply(protocol.Fail, now)
		r.Code, r.Reason, r.State = protocol.GameOver, "the game is over: "+string(g.reason), r.Game.State
		return r
	case *req.MovesMade != int(g.state.Turns):
		r := g.reply(protocol.Fail, now)
		r.Code, r.Reason = protocol.OutOfStep, "moves_made does not match the moves made"
		return r
	}
	g.move(*req.Moves)
	return g.reply(protocol.OK, now)
}

func (g *game) show(now time.Time) *protocol.Reply {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.over(now)
	return g.reply(protocol.OK, now)
}
