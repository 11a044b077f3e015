package openenv

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"blockyard/env"
)

// Values values the legal actions of seat in a position, or the most promising of them. It may be called by several
// goroutines at once, and keeps the position during the call only.
type Values func(ctx context.Context, s env.State, seat int) (map[env.Action]float32, error)

type childrenArguments struct {
	inBranch
	Moves  []string `json:"moves,omitempty" jsonschema:"Only these of legal_moves; all by default."`
	Values bool     `json:"values,omitempty" jsonschema:"Also say what each move is worth to a strong program."`
}

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

// children shows the afterstates of moves. What the client cannot know is drawn anew, the same for all of them, so that
// they tell nothing of the future. The caller holds p.mu.
func children(p *session, a childrenArguments) (answer, error) {
	if p.done {
		return answer{}, badRequest(errDone)
	}
	g, seats := p.srv.c.Game, p.srv.c.Seats
	actions := p.env.Legal(0, 0, nil)
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
	view, after := g.New(seats), g.New(seats)
	env.View(view, p.env.State(0), p.seat, env.Derive(p.seed, uint64(len(p.turns))))
	out := childList{Children: []child{}}
	var text strings.Builder
	var values map[env.Action]float32
	if a.Values {
		if p.srv.c.Values == nil {
			return answer{}, badRequest(errors.New("this server gives no values: ask without them"))
		}
		var err error
		after.CopyFrom(view)
		if values, err = p.srv.c.Values(p.ctx, after, p.seat); err != nil {
			return answer{}, p.unlessClosed(err)
		}
		out.Unit = p.srv.c.Unit
		if out.Unit != "" {
			fmt.Fprintf(&text, "Values are %s.\n", out.Unit)
		}
	}
	reward := p.srv.c.Reward
	before := reward.Measure(view, p.seat)
	for _, action := range actions {
		after.CopyFrom(view)
		env.After(after, p.seat, action)
		c := child{Move: p.text(action), Reward: reward.Measure(after, p.seat) - before, Done: after.Acting() == 0}
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
