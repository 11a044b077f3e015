package selfplay

import (
	"testing"

	"blockyard/env"

	"github.com/stretchr/testify/require"
)

// The futures of a decision hold every outcome of every draw once.
func TestForeseeGivesEveryOutcomeOnce(t *testing.T) {
	s := open(t, backed(1), 1).slots[0]
	for look := 2; look < 5; look++ {
		s.foresee(look)
		require.Len(t, s.fate, look)
		for _, draws := range s.fate {
			require.ElementsMatch(t, []uint16{0, 1, 2, 3, 4, 5, 6}, draws)
		}
	}
}

// A look of two choices is the mean, over the futures, of a search by twice written out; one
// of three plays the first of these and looks again.
func TestBeyondIsTheSearchWrittenOut(t *testing.T) {
	r := open(t, backed(6), 1)
	c, slot := r.players[0], r.slots[0]
	c.use(r.Net())
	s, then := r.Game.Rules.New(2), r.Game.Rules.New(2)
	looked := 0
	for n := range 16 {
		s.Reset(slot.rand.Next())
		r.Game.Damage(s, &slot.rand)
		c.open(&c.root, s, 0)
		if c.root.live == 0 {
			continue
		}
		look := 2 + n%2
		slot.foresee(look)
		k := int(slot.rand.Next() % uint64(c.root.live))
		a := c.root.legal[c.root.slot[k]]
		legal := c.root.states[k].Legal(0, nil)
		b := legal[slot.rand.Next()%uint64(len(legal))]
		want := float32(0)
		for f := range 7 {
			then.CopyFrom(s)
			for k, choice := range []env.Action{a, b} {
				then.Force([]uint16{slot.fate[k][f]})
				env.After(then, 0, choice)
				if then.Acting() == 0 {
					break
				}
			}
			v := float32(-floor)
			if then.Acting() != 0 {
				choice, worth := twoDeep(c, then)
				if v = worth; look == 3 && choice != env.None {
					then.Force([]uint16{slot.fate[2][f]})
					env.After(then, 0, choice)
					if v = -floor; then.Acting() != 0 {
						_, v = twoDeep(c, then)
					}
				}
			}
			want += min(max(v, -floor), floor) / 7
			looked++
		}
		got := c.beyond(s, 0, [2]env.Action{a, b}, slot.fate)
		require.InDelta(t, want, got, 1e-4)
	}
	require.Greater(t, looked, 50)
}

// twoDeep is twice without its shortcuts: all first choices are judged and ordered, and the
// first few of them gone into.
func twoDeep(c *chooser, s env.State) (env.Action, float32) {
	var l level
	c.open(&l, s, 0)
	c.judge(&l, 0)
	if len(l.legal) == 0 {
		return env.None, -floor
	}
	at, worth, tried := best(l.worth), float32(-certain), map[int]bool{}
	for range min(beyondWidth, l.live) {
		k := -1
		for j := range l.live {
			if !tried[j] && (k < 0 || l.out[j] > l.out[k]) {
				k = j
			}
		}
		tried[k] = true
		if v := c.second(l.states[k], 0); v > worth {
			at, worth = l.slot[k], v
		}
	}
	return l.legal[at], worth
}
