package server

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	dropbloxcontest "blockyard/agents/contest/dropblox"
	"blockyard/agents/contest/dropblox/protocol"
	"blockyard/env/dropblox"
)

const (
	waitingTime = 5 * time.Second        // a team that asked within this time is waiting
	askAgain    = 500 * time.Millisecond // between two requests of a waiting team
	minWait     = 10 * time.Millisecond
)

// A round is the current round of the competition: teams wait for it, it begins, it is closed.
type round struct {
	number  int
	waiting map[string]time.Time // when a team asked last
	begins  time.Time            // zero if not scheduled yet
	seed    string
	games   map[string]*game // by team; nil before the round begins
	last    map[string]*game // of the previous round
	over    bool             // there are no more rounds
}

type Round struct {
	Number int        `json:"round"`
	Seed   string     `json:"seed"`
	Began  time.Time  `json:"began"`
	Ranks  []Standing `json:"ranks"` // the best first
}

func (r Round) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "round %d, seed %s\nrank  score  turns  end      game          team\n", r.Number, r.Seed)
	for _, s := range r.Ranks {
		fmt.Fprintf(&b, "%4d  %5d  %5d  %-7s  %-12s  %s\n", s.Rank, s.Score, s.Turns, s.Reason, s.Game, s.Team)
	}
	return b.String()
}

type Standing struct {
	Rank   int                    `json:"rank"` // equal scores have equal ranks
	Team   string                 `json:"team"`
	Score  int                    `json:"score"`
	Turns  int                    `json:"turns"`
	Reason dropbloxcontest.Reason `json:"reason"`
	Game   string                 `json:"game"`
}

func (s *Server) compete(team string) (*protocol.Reply, error) {
	now := s.now()
	s.mu.Lock()
	r := &s.round
	closed := s.advanceRound(now)
	defer func() {
		s.mu.Unlock()
		s.tell(closed)
	}()
	switch {
	case r.over:
		return fail(protocol.NoSuchGame, "the competition is over"), nil
	case r.games == nil:
		return wait(s.gather(team, now)), nil
	}
	g := r.games[team]
	if g == nil {
		var err error
		if g, err = s.newGame(team, "compete", r.seed, r.begins, dropbloxcontest.NewBudget(roundHistory)); err != nil {
			return nil, err
		}
		r.games[team], s.games[g.id] = g, g
		s.count(func(c *Counts) { c.Competition++ })
	}
	if !g.running(now) { // its game is over: wait for the next round
		return wait(askAgain), nil
	}
	return g.show(now), nil
}

func wait(d time.Duration) *protocol.Reply {
	seconds := d.Seconds()
	return &protocol.Reply{Ret: protocol.Wait, WaitTime: &seconds}
}

// gather notes that a team waits, schedules the round if enough do, and returns when the team should ask again.
func (s *Server) gather(team string, now time.Time) time.Duration {
	r := &s.round
	r.waiting[team] = now
	if r.begins.IsZero() {
		maps.DeleteFunc(r.waiting, func(_ string, asked time.Time) bool { return now.Sub(asked) > waitingTime })
		if len(r.waiting) < s.c.Players {
			return askAgain
		}
		r.begins = now.Add(s.c.Notice)
		s.c.Log.Info("round is scheduled", "round", r.number, "in", s.c.Notice)
	}
	return min(max(r.begins.Sub(now), minWait), askAgain)
}

// advanceRound begins or closes the round if its time has come, and returns a closed round. The caller holds s.mu.
func (s *Server) advanceRound(now time.Time) *Round {
	r := &s.round
	if r.over || r.begins.IsZero() || now.Before(r.begins) {
		return nil
	}
	if r.games == nil {
		r.seed, r.games = s.seed(), map[string]*game{}
		for _, g := range r.last {
			delete(s.games, g.id)
		}
		s.c.Log.Info("round begins", "round", r.number)
		return nil
	}
	if now.Sub(r.begins) <= s.c.Clock && !s.allFinished(now) {
		return nil
	}
	return s.closeRound(dropbloxcontest.Time)
}

func (s *Server) allFinished(now time.Time) bool {
	r := &s.round
	if len(r.games) == 0 {
		return false
	}
	for team := range r.waiting {
		if r.games[team] == nil {
			return false
		}
	}
	for _, g := range r.games {
		if g.running(now) {
			return false
		}
	}
	return true
}

// closeRound ends the games of the round and prepares the next. The caller holds s.mu.
func (s *Server) closeRound(why dropbloxcontest.Reason) *Round {
	r := &s.round
	s.count(func(c *Counts) { c.Rounds++ })
	out := &Round{Number: r.number, Seed: r.seed, Began: r.begins, Ranks: []Standing{}}
	for team, g := range r.games {
		g.close(why)
		g.mu.Lock()
		out.Ranks = append(out.Ranks, Standing{0, team, g.state.Score(0), int(g.state.Turns), g.reason, g.id})
		g.mu.Unlock()
	}
	slices.SortFunc(out.Ranks, func(a, b Standing) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Team, b.Team))
	})
	for k := range out.Ranks {
		if out.Ranks[k].Rank = k + 1; k > 0 && out.Ranks[k].Score == out.Ranks[k-1].Score {
			out.Ranks[k].Rank = out.Ranks[k-1].Rank
		}
	}
	*r = round{number: r.number + 1, waiting: map[string]time.Time{}, last: r.games}
	if s.c.Rounds > 0 && r.number > s.c.Rounds {
		r.over = true
		close(s.done)
	}
	return out
}

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

// wrote handles an error of the history: the game goes on without. If the space is used up, the result is still kept.
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
