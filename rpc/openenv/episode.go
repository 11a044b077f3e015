package openenv

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"slices"
	"strings"
	"time"

	"blockyard/env"
	"blockyard/env/vec"
	"blockyard/rpc/openenv/relabel"
)

// An episode is a game from its reset on, as far as a session knows it. Copies share turns and reseeds, clipped.
type episode struct {
	seat      int
	seed      uint64
	names     *relabel.Names // nil for those of the game
	turns     []turn
	reseeds   []reseed
	illegal   int
	total     float64 // the sum of rewards
	done      bool
	truncated bool
}

// A turn is one move of the client.
type turn struct {
	move   string // as it was sent, at most mostText bytes of it
	reward float64
}

// A reseed is a change of the future.
type reseed struct {
	Turn int    `json:"turn" jsonschema:"After so many moves."`
	Seed uint64 `json:"seed" jsonschema:"What is hidden is drawn from it."`
}

const (
	turnBytes  = 64 // of memory that a turn takes, its move included
	turnsAhead = 64 // that memory is accounted for at a time
	mostText   = 80 // no legal move is longer
)

// resetOptions are the arguments of reset. As the standard says, unknown ones are ignored.
type resetOptions struct {
	Seed      *uint64  `json:"seed,omitempty" jsonschema:"The same seed and moves give the same episode."`
	EpisodeID string   `json:"episode_id,omitempty" jsonschema:"The episode; the one without a name by default."`
	Seat      *int     `json:"seat,omitempty" jsonschema:"The seat of the agent, from 0."`
	Rules     string   `json:"rules,omitempty" jsonschema:"relabelled: coordinates, pieces and moves have other names."`
	Moves     []string `json:"moves,omitempty" jsonschema:"Moves to play again, as the state of an episode has them."`
	Reseeds   []reseed `json:"reseeds,omitempty" jsonschema:"Changes of the future among them, as that state has them."`
	State     string   `json:"state,omitempty" jsonschema:"Begin with a copy of this: a token of save."`
	Reseed    *uint64  `json:"reseed,omitempty" jsonschema:"With state: draw what is hidden there again, from this seed."`
}

// reset begins an episode and returns its first observation.
func (p *session) reset(o resetOptions) (*result, error) {
	if o.State != "" {
		return p.resume(o)
	}
	if err := p.lock(); err != nil {
		return nil, err
	}
	defer p.mu.Unlock()
	return p.begin(o)
}

// begin is reset for a caller that holds p.mu.
func (p *session) begin(o resetOptions) (*result, error) {
	e := episode{seat: p.srv.c.Seat, seed: mathrand.Uint64N(1 << 53)} // a whole number in every JSON reader
	if o.Seat != nil {
		e.seat = *o.Seat
	}
	if o.Seed != nil {
		e.seed = *o.Seed
	}
	if err := p.srv.c.checkSeat(e.seat); err != nil {
		return nil, invalid(err)
	}
	if len(o.EpisodeID) > mostID {
		return nil, invalid(fmt.Errorf("episode_id has %d bytes, want at most %d", len(o.EpisodeID), mostID))
	}
	switch o.Rules {
	case "":
	case relabel.Kind:
		e.names = relabel.New(p.srv.c.Game, e.seed)
	default:
		return nil, invalid(fmt.Errorf("rules is %.40q, want relabelled or none", o.Rules))
	}
	if err := p.sit(e.seat); err != nil {
		return nil, err
	}
	if err := p.env.Reset(vec.From(e.seed), nil, p.batch); err != nil {
		return nil, p.unlessClosed(err)
	}
	if err := p.become(e, cmp.Or(o.EpisodeID, rand.Text())); err != nil {
		return nil, err
	}
	return p.again(o.Moves, o.Reseeds)
}

// become makes e the episode of the session, and accounts for its turns. The caller holds p.mu.
func (p *session) become(e episode, id string) error {
	if err := p.reserve(len(e.turns)); err != nil {
		return err
	}
	p.episode, p.id = e, id
	return nil
}

// again plays moves that were played before, with the same changes of the future, and returns the last result.
func (p *session) again(moves []string, reseeds []reseed) (*result, error) {
	out := p.result(nil, "")
	for k := 0; ; k++ {
		for len(reseeds) > 0 && reseeds[0].Turn == k {
			if err := p.reseed(reseeds[0].Seed); err != nil {
				return nil, err
			}
			reseeds = reseeds[1:]
		}
		if k == len(moves) {
			break
		}
		if p.done {
			return nil, invalid(fmt.Errorf("moves[%d]: the episode is over before it", k))
		}
		var err error
		if out, err = p.play(moves[k]); err != nil {
			return nil, err
		}
	}
	if len(reseeds) > 0 {
		return nil, invalid(fmt.Errorf("reseeds: turn %d, want 0 to %d, in ascending order", reseeds[0].Turn, len(moves)))
	}
	return out, nil
}

// reseed draws again from seed what the client cannot know. The caller holds p.mu.
func (p *session) reseed(seed uint64) error {
	if p.done {
		return nil
	}
	if err := p.env.Reseed(0, seed); err != nil {
		return p.unlessClosed(err)
	}
	p.reseeds = append(p.reseeds, reseed{len(p.turns), seed})
	return nil
}

// unlessClosed is the error of a game, unless close has interrupted it.
func (p *session) unlessClosed(err error) error {
	if err != nil && p.ctx.Err() != nil {
		return errClosed
	}
	return err
}

// sit gives the client a seat.
func (p *session) sit(seat int) error {
	if p.env != nil {
		if p.seat == seat {
			return nil
		}
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

// step plays a move for a client that has begun an episode.
func (p *session) step(move string) (*result, error) {
	if err := p.lock(); err != nil {
		return nil, err
	}
	defer p.mu.Unlock()
	if p.env == nil {
		return nil, badRequest(errReset)
	}
	return p.play(move)
}

// play plays a move. An illegal one changes nothing but the counts and earns the penalty. The caller holds p.mu.
func (p *session) play(move string) (*result, error) {
	if p.done {
		return nil, badRequest(errDone)
	}
	if err := p.reserve(len(p.turns) + 1); err != nil {
		return nil, err
	}
	move = strings.TrimSpace(move)
	kept := strings.Clone(strings.ToValidUTF8(move[:min(len(move), mostText)], "?"))
	this, wrong := turn{kept, -p.srv.c.Penalty}, ""
	if a, err := p.choose(move); err != nil {
		wrong = err.Error()
		p.illegal++
	} else {
		began := time.Now()
		if err := p.env.Step([]env.Action{a}, p.batch); err != nil {
			return nil, p.unlessClosed(err)
		}
		p.guest.Stepped(p.env, time.Since(began))
		this.reward, p.done = float64(p.batch.Reward[p.seat]), p.batch.Terminated[0] != 0
	}
	p.turns = append(p.turns, this)
	p.total += this.reward
	if limit := p.srv.c.StepLimit; limit > 0 && len(p.turns) >= limit && !p.done {
		p.done, p.truncated = true, true
	}
	return p.result(&this.reward, wrong), nil
}

// choose returns the action of a text, or an error that says why it is not legal.
func (p *session) choose(move string) (env.Action, error) {
	p.legal = p.env.Legal(0, 0, p.legal[:0])
	g := p.srv.c.Game
	example := p.text(p.legal[len(p.legal)/2])
	a, err := env.None, error(nil)
	if p.names == nil {
		a, err = g.Parse(move)
	} else if k := slices.IndexFunc(p.legal, func(a env.Action) bool { return p.text(a) == move }); k >= 0 {
		a = p.legal[k]
	}
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

// text is an action as the client reads and writes it.
func (p *session) text(a env.Action) string {
	if p.names != nil {
		return p.names.Move(p.srv.text(a))
	}
	return p.srv.text(a)
}
