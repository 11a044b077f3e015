package dropbloxbot

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"blockyard/agents/bots/entry"
	"blockyard/agents/search"
	"blockyard/env"
	"blockyard/env/dropblox"
)

// A ranker is an entry.Ranker: after every placement of the block it runs a Beam of its own.
type ranker struct {
	beam         *Beam
	width, depth int
}

func newRanker(_ *env.Game, j entry.Evaluator, o entry.Options) (entry.Ranker, error) {
	if o.Time > 0 {
		return nil, errors.New("option time: an analysis takes as long as it takes; want width or depth")
	}
	if o.Numbers["futures"] > 0 {
		return nil, errors.New("option futures: an analysis searches the known blocks alone; want width or depth")
	}
	width := cmp.Or(o.Numbers["width"], Width)
	return &ranker{beam: NewBeam(j.(Rater)), width: width, depth: o.Numbers["depth"]}, nil
}

// Rank implements entry.Ranker. It values all placements. If the last of the known blocks to search has no room in
// any line, the value is -search.Win, plus one for every block placed.
func (r *ranker) Rank(ctx context.Context, s env.State, _ int, _ env.Action) ([]entry.Choice, error) {
	p := Of(s.(*dropblox.State))
	p.Depth = r.depth
	b := r.beam
	depth := b.prepare(p)
	if depth == 0 {
		return nil, errors.New("the block appears outside the board")
	}
	root := Board{Field: p.Field, Points: p.Points, first: -1}
	b.place(0, &root)
	kids := slices.Clone(b.kids)
	worth := make([]float32, len(kids))
	b.rater.Rate(&root, kids, depth-1, worth)
	var out []entry.Choice
	c := search.NewClock(ctx)
	for i := range kids {
		v := b.best(&kids[i], depth, r.width, worth[i], &c)
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		out = append(out, entry.Choice{Action: placement(kids[i].action).Action(), Value: v})
	}
	return out, nil
}

// best returns the worth of the best line that begins with kid, itself of the given worth. c makes it meaningless.
func (b *Beam) best(kid *Kid, depth, width int, worth float32, c *search.Clock) float32 {
	b.now = append(b.now[:0], Board{Field: kid.Field, Points: kid.Points, Line: kid.Line, first: -1})
	if depth > 1 { // the next block must have room
		b.kids = append(b.kids[:0], *kid)
		if len(b.alive(0, depth, &b.now[0], &lastStand{first: -1})) == 0 {
			return -search.Win + 1
		}
	}
	for k := 1; k < depth; k++ {
		switch done := b.grow(k, depth, width, &lastStand{first: -1}, c); {
		case !done:
			return 0
		case len(b.now) == 0:
			return -search.Win + float32(k+1)
		}
		worth = b.keep.best
	}
	return worth
}

// Line implements entry.Ranker: the placements of the other known blocks.
func (r *ranker) Line(ctx context.Context, state env.State, seat int, a env.Action) (line []entry.Ply, err error) {
	s := state.(*dropblox.State)
	known := dropblox.Known
	if r.depth > 0 {
		known = r.depth
	}
	for known--; known > 0 && ctx.Err() == nil; known-- {
		if s.Step(env.Alone(seat, a)); s.Acting() == 0 {
			break
		}
		p := Of(s)
		p.Depth = known
		at, _, ok := r.beam.Choose(p, r.width, search.NewClock(ctx))
		if !ok {
			break
		}
		a = at.Action()
		line = append(line, entry.Ply{Seat: seat, Action: a})
	}
	return line, ctx.Err()
}
