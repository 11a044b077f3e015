package batch

import (
	"blockyard/agents/bots/features"
	"blockyard/env"
	"blockyard/env/vec"
	"blockyard/rpc/session/memory"
)

// Candidates are legal actions of each row whose afterstates every slab describes.
type Candidates struct {
	Most     int           // of a row, at least 1; of more legal actions so many are chosen, evenly spaced
	Features *features.Set // by which afterstates are described; nil: by what the seat observes
}

// size returns the bytes of a row in a slab.
func (c *Candidates) size(g *env.Game) int64 {
	if c == nil {
		return 0
	}
	f, planes, globals := widths(g, c.Features)
	return int64(c.Most) * int64(AfterLen+4*f+planes+4*globals)
}

// candidates writes those of all rows to slabs.
type candidates struct {
	*describer
	most int
	to   *Outcomes // of the place that is written
	game func(worker, i int)
}

// choose makes the slabs of b have candidates, and places their fields in l.
func (b *Batch) choose(what *Candidates, l *vec.Layout) {
	c := &candidates{describer: b.describer(what.Features), most: what.Most}
	c.game = c.write
	from := len(l.Fields)
	l.Add("candidate", "<u2", b.Rows, c.most)
	l.Add("candidate_reward", "<f4", b.Rows, c.most)
	l.Add("candidate_done", "|u1", b.Rows, c.most)
	if c.set != nil {
		l.Add("candidate_features", "<f4", b.Rows, c.most, c.features)
	} else {
		p := b.Game.Planes
		l.Add("candidate_planes", "|u1", b.Rows, c.most, p.C, p.H, p.W)
		l.Add("candidate_globals", "<f4", b.Rows, c.most, c.globals)
	}
	b.candidates, b.Layout.after = c, l.Fields[from:]
}

// view returns the fields of a slab that choose has placed.
func (c *candidates) view(slab []byte) (o Outcomes) {
	at := func(k int) []byte { f := c.b.Layout.after[k]; return slab[f.Offset : f.Offset+f.Len] }
	o.Actions, o.Reward, o.Done = memory.Words[env.Action](at(0)), memory.Words[float32](at(1)), at(2)
	if c.set != nil {
		o.Features = memory.Words[float32](at(3))
	} else {
		o.Planes, o.Globals = at(3), memory.Words[float32](at(4))
	}
	return o
}

// write writes the candidates of game i. Their random draws are those of afterstates whose seed is the number of steps
// of the episode, so that they follow from the position.
func (c *candidates) write(worker, i int) {
	b, o, n, p := c.b, c.to, c.most, &c.players[worker]
	for r := range b.Env.Rows() {
		first := (i*b.Env.Rows() + r) * n
		end := first + n
		clear(o.Reward[first:end])
		clear(o.Done[first:end])
		clear(o.Features[first*c.features : end*c.features])
		clear(o.Planes[first*c.planes : end*c.planes])
		clear(o.Globals[first*c.globals : end*c.globals])
		for k := range o.Actions[first:end] {
			o.Actions[first+k] = env.None
		}
		if !b.Env.Live(i) {
			continue
		}
		p.legal = b.legal(i, r, p.legal[:0])
		if all := len(p.legal); all > n { // of those that share a place, the last
			for k := range n {
				p.legal[k] = p.legal[((k+1)*all+n-1)/n-1]
			}
			p.legal = p.legal[:n]
		}
		copy(o.Actions[first:], p.legal)
		c.row(worker, i, r, uint64(b.Env.Steps(i)), o, first, p.legal) // not what a client may have written there
	}
}
