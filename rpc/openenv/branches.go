package openenv

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"

	"blockyard/env"
	"blockyard/rpc/session/batch"
)

const mostForks = 1024 // at a time

// A position is a copy of a session's game, from which others go on.
type position struct {
	episode
	game *batch.Copy
}

// position copies the game. It begins an episode if there is none.
func (p *session) position() (*position, error) {
	if err := p.lockBegun(); err != nil {
		return nil, err
	}
	defer p.mu.Unlock()
	game, err := p.games.Copy(0)
	return &position{p.shared(), game}, p.unlessClosed(err)
}

// take makes the session go on from a position, with another future if there is a seed.
func (p *session) take(at *position, id string, seed *uint64) error {
	if err := p.lock(); err != nil {
		return err
	}
	defer p.mu.Unlock()
	err := p.sit(at.Seat)
	if err == nil {
		err = p.games.Paste(0, at.game)
	}
	if err == nil {
		err = p.become(at.episode, id)
	}
	if err == nil && seed != nil {
		err = p.reseed(*seed)
	}
	return p.unlessClosed(err)
}

// forkArguments are what a client may say to the tool "fork", checked by its schema.
type forkArguments struct {
	inBranch
	N    int     `json:"n" jsonschema:"How many branches, 1 to 1024."`
	Seed *uint64 `json:"seed,omitempty" jsonschema:"Gives each branch another future than the game has."`
}

// forks are the result of the tool "fork": the names of the new branches.
type forks struct {
	Branches []string `json:"branches"`
	Seeds    []uint64 `json:"seeds,omitempty"` // of their futures
}

func fork(p *session, a forkArguments) (answer, error) {
	out, err := p.fork(a.N, a.Seed)
	if err != nil {
		return answer{}, err
	}
	return answer{out, "Name one of these as branch: " + strings.Join(out.Branches, ", ") + "."}, nil
}

// fork copies the game into n sessions of their own.
func (p *session) fork(n int, from *uint64) (out forks, err error) {
	if n < 1 || n > mostForks {
		return out, invalid(fmt.Errorf("n is %d, want 1 to %d", n, mostForks))
	}
	at, err := p.position()
	if err != nil {
		return out, err
	}
	var all []*session
	for k := range uint64(n) {
		id := rand.Text()
		var seed *uint64
		if from != nil {
			s := env.Derive(*from, k) >> 11 // a whole number in every JSON reader
			seed, out.Seeds = &s, append(out.Seeds, s)
		}
		f, _, err := p.srv.open(p.at.token, id, p)
		if err == nil {
			all = append(all, f)
			err = f.take(at, id, seed)
		}
		if err != nil {
			for _, f := range all {
				f.close()
			}
			return out, err
		}
		out.Branches = append(out.Branches, id)
	}
	return out, nil
}

// save keeps the position: as a branch that nobody plays, whose name is the token.
func save(p *session, _ inBranch) (answer, error) {
	out, err := p.fork(1, nil)
	if err != nil {
		return answer{}, err
	}
	return inJSON(object{"state": out.Branches[0]})
}

// restoreArguments are what a client may say to the tool "restore", checked by its schema.
type restoreArguments struct {
	inBranch
	State string  `json:"state" jsonschema:"The token that save returned."`
	Seed  *uint64 `json:"seed,omitempty" jsonschema:"Draw what is hidden anew, from this seed."`
}

func restore(p *session, a restoreArguments) (answer, error) {
	if a.State == "" {
		return answer{}, invalid(errors.New("the arguments have no state: want the token that save returned"))
	}
	p.mu.Lock()
	id := p.id
	p.mu.Unlock()
	return told(p.reset(resetOptions{State: a.State, Reseed: a.Seed, EpisodeID: id}))
}

// resume makes the session go on from a copy of the position of another one of its client.
func (p *session) resume(o resetOptions) (*result, error) {
	if methodOf(p.srv.methods, "restore") == nil {
		return nil, badRequest(errors.New("this server offers no restore: reset without state"))
	}
	from, err := p.srv.find(p.at.token, o.State)
	if err != nil {
		return nil, err
	}
	at, err := from.position()
	if err != nil {
		return nil, err
	}
	if err := p.take(at, cmp.Or(o.EpisodeID, rand.Text()), o.Reseed); err != nil {
		return nil, err
	}
	return p.current()
}

// releaseArguments are what a client may say to the tool "release", checked by its schema.
type releaseArguments struct {
	inBranch
	Branches []string `json:"branches,omitempty" jsonschema:"The branches to end; by default all of the game."`
}

func release(p *session, a releaseArguments) (answer, error) {
	p.touch()
	all := p.branches()
	if len(a.Branches) > 0 {
		all = all[:0]
	}
	for _, id := range a.Branches {
		f, err := p.srv.find(p.at.token, id)
		if err == nil && f.parent == nil {
			err = invalid(fmt.Errorf("%.80q is no branch", id))
		}
		if err != nil {
			return answer{}, err
		}
		all = append(all, f)
	}
	for _, f := range all {
		f.close()
	}
	return inJSON(object{"released": len(all)})
}

// rewindArguments are what a client may say to the tool "rewind", checked by its schema.
type rewindArguments struct {
	inBranch
	Turn *int `json:"turn" jsonschema:"How many moves remain, illegal ones included."`
}

// rewind plays the episode again up to a turn. The caller holds p.mu.
func rewind(p *session, a rewindArguments) (answer, error) {
	if a.Turn == nil || *a.Turn < 0 || *a.Turn > len(p.Moves) {
		return answer{}, invalid(fmt.Errorf("turn: want 0 to %d, the number of moves so far", len(p.Moves)))
	}
	kept, _ := slices.BinarySearchFunc(p.Reseeds, *a.Turn+1, func(r reseed, turn int) int { return r.Turn - turn })
	o := resetOptions{Seed: &p.seed, Seat: &p.Seat, EpisodeID: p.id, Rules: p.names.Kind(),
		Moves: p.Moves[:*a.Turn], Reseeds: p.Reseeds[:kept]}
	if _, err := p.begin(o); err != nil {
		return answer{}, err
	}
	return told(p.result(nil, ""), nil)
}

// Values values the legal actions of seat, or the most promising ones. It is safe for concurrent use.
type Values func(ctx context.Context, s env.State, seat int) (map[env.Action]float32, error)

// childrenArguments are what a client may say to the tool "children", checked by its schema.
type childrenArguments struct {
	inBranch
	Moves  []string `json:"moves,omitempty" jsonschema:"Only these of legal_moves; all by default."`
	Values bool     `json:"values,omitempty" jsonschema:"Also say what each move is worth to a strong program."`
}

// A childList is the result of the tool "children": a position for each move.
type childList struct {
	Children []child `json:"children"`
	Unit     string  `json:"unit,omitempty"` // of the values
}

// A child is a legal move and what it leads to.
type child struct {
	Move   string   `json:"move"`
	Text   string   `json:"text"`
	Reward float64  `json:"reward"`
	Done   bool     `json:"done"`
	Value  *float32 `json:"value,omitempty"` // nil if it was not asked for, or the move is not promising
}

// children shows the afterstates of moves, with the same hidden draws in all of them. The caller holds p.mu.
func children(p *session, a childrenArguments) (answer, error) {
	if p.Done {
		return answer{}, errDone
	}
	g, seats := p.srv.c.Game, p.srv.c.Seats
	actions := p.games.Env.Legal(0, 0, nil)
	if len(a.Moves) > 0 {
		actions = nil
		for _, move := range a.Moves {
			action, err := p.choose(strings.TrimSpace(move))
			if err != nil {
				return answer{}, invalid(err)
			}
			actions = append(actions, action)
		}
	}
	view, after := p.view(), g.New(seats)
	out := childList{Children: []child{}}
	var text strings.Builder
	var values map[env.Action]float32
	if a.Values {
		if p.srv.c.Values == nil {
			return answer{}, badRequest(errors.New("this server gives no values: ask without them"))
		}
		var err error
		after.CopyFrom(view)
		if values, err = p.srv.c.Values(p.ctx, after, p.Seat); err != nil {
			return answer{}, p.unlessClosed(err)
		}
		out.Unit = p.srv.c.Unit
		if out.Unit != "" {
			fmt.Fprintf(&text, "Values are %s.\n", out.Unit)
		}
	}
	reward := p.srv.c.Reward
	before := reward.Measure(view, p.Seat)
	for _, action := range actions {
		after.CopyFrom(view)
		env.After(after, p.Seat, action)
		c := child{Move: p.text(action), Reward: reward.Measure(after, p.Seat) - before, Done: after.Acting() == 0}
		c.Text = p.describe(after, fmt.Sprintf("The position after %s, before others move.", c.Move))
		fmt.Fprintf(&text, "Move %s: reward %v", c.Move, c.Reward)
		if v, ok := values[action]; ok {
			c.Value = &v
			fmt.Fprintf(&text, ", value %v", v)
		}
		fmt.Fprintf(&text, "\n%s", c.Text)
		out.Children = append(out.Children, c)
	}
	return answer{out, text.String()}, nil
}
