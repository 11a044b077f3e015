package dropblox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"blockyard/agents/contest/dropblox/protocol"
	"blockyard/env/dropblox"
)

// A Remote is a game of a contest's server.
type Remote struct {
	ID string

	contest *Contest
	game    *dropblox.Position
	turns   int
	ends    time.Time
	expired bool
}

var _ Game = (*Remote)(nil)

func newRemote(c *Contest, reply *protocol.Reply) (*Remote, error) {
	if reply.Game == nil {
		return nil, errors.New("the server's reply holds no game")
	}
	r := &Remote{contest: c, ID: string(reply.Game.ID)}
	if err := CheckID(r.ID); err != nil {
		return nil, fmt.Errorf("the server's reply: %w", err)
	}
	return r, r.take(reply.Game, reply.Game.State, reply.Seconds)
}

const maxTurns = 1 << 30

func (r *Remote) take(g *protocol.Game, state json.RawMessage, seconds *float64) error {
	if g == nil || string(g.ID) != r.ID || g.Moves < 0 || g.Moves > maxTurns {
		return fmt.Errorf("the server's reply holds no game %s", r.ID)
	}
	p, err := dropblox.ParsePosition(state)
	if err != nil {
		return fmt.Errorf("the server's reply: %w", err)
	}
	if seconds == nil || *seconds > 1e6 || *seconds < -1e6 {
		return errors.New("the server's reply does not say how many seconds remain")
	}
	r.game, r.turns = p, g.Moves
	// The server sends whole seconds, rounded up: the earliest end so far is the best estimate.
	if ends := time.Now().Add(time.Duration(*seconds * float64(time.Second))); r.ends.IsZero() || ends.Before(r.ends) {
		r.ends = ends
	}
	return nil
}

func (r *Remote) Status() Status {
	state := r.game.AppendJSON(make([]byte, 0, 4096))
	return Status{state, r.turns, r.game.Score, r.game.Failed, why(r.expired), time.Until(r.ends)}
}

// Expire implements Game. The server ends the game by itself.
func (r *Remote) Expire() { r.game.Failed, r.expired = true, true }

func (r *Remote) Submit(ctx context.Context, commands []dropblox.Command) error {
	id, moves, made := protocol.ID(r.ID), make([]string, len(commands)), r.turns
	for k, c := range commands {
		moves[k] = c.String()
	}
	reply, err := r.contest.ask(ctx, protocol.SubmitMove, protocol.Request{Game: &id, Moves: &moves, MovesMade: &made})
	if err != nil {
		return err
	}
	return r.answered(reply, made)
}

// answered takes the reply to a turn that was submitted after so many.
func (r *Remote) answered(reply *protocol.Reply, made int) error {
	state := reply.State // a reply has two places for it
	if reply.Game != nil && len(reply.Game.State) > 0 {
		state = reply.Game.State
	}
	// The turn was played, but the answer to this very request was lost, and it was sent again.
	played := reply.Game != nil && reply.Game.Moves == made+1
	switch {
	case reply.Ret == protocol.OK, reply.Code == protocol.OutOfStep && played:
		return r.take(reply.Game, state, reply.Seconds)
	case reply.Code != protocol.GameOver:
		return refused(reply)
	}
	p, err := dropblox.ParsePosition(state)
	if err != nil {
		return fmt.Errorf("the server's reply: %w", err)
	}
	p.Failed = true
	r.game, r.expired = p, !played
	if played {
		r.turns = made + 1
	}
	return nil
}
