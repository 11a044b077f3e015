package human

import (
	"context"
	"errors"
	"fmt"
	"time"

	"blockyard/env"
	"blockyard/env/wintetris"
)

// A Ticker plays wintetris:tick in real time: the keys pressed during a tick are its bits.
type Ticker struct {
	Player
	Speed float64 // of the clock: 2 is twice as fast; 0 is 1
}

var _ env.Agent = (*Ticker)(nil)

// TickTime returns how long a tick lasts at a level, at some speed: 2 is twice as fast, 0 is 1.
func TickTime(level int, speed float64) time.Duration {
	if speed == 0 {
		speed = 1
	}
	return time.Duration(wintetris.TickMS(level) / speed * float64(time.Millisecond))
}

// ticksHelp says what the keys do.
const ticksHelp = "← → move   ↑ turn   z turn back   space drop   p pause   q leave"

// bits are the bits of a key.
var bits = map[string]wintetris.Bits{
	"left": wintetris.Left, "h": wintetris.Left, "right": wintetris.Right, "l": wintetris.Right, "up": wintetris.CW,
	"k": wintetris.CW, "x": wintetris.CW, "z": wintetris.CCW, "space": wintetris.Drop, "enter": wintetris.Drop,
	"down": wintetris.Drop, "j": wintetris.Drop,
}

// Act implements env.Agent: it collects keys until the tick is over.
func (t *Ticker) Act(ctx context.Context, s env.State, seat int) (env.Action, error) {
	state, ok := s.(*wintetris.State)
	if !ok {
		return env.None, fmt.Errorf("a clock for %T: want wintetris:tick", s)
	}
	if err := t.show(s, seat, env.None); err != nil {
		return env.None, err
	}
	fmt.Fprintln(t.Out, ticksHelp)
	tick, done := context.WithTimeout(ctx, TickTime(state.Level(), t.Speed))
	defer done()
	var pressed wintetris.Bits
	for {
		key, err := t.Keys.Next(tick)
		switch {
		case errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil:
			return env.Action(pressed), nil
		case err != nil:
			return env.None, err
		case key == "q" || key == "quit":
			return env.None, ErrQuit
		case key == "p":
			if key, err = t.Keys.Next(ctx); err != nil {
				return env.None, err
			}
			if key == "q" || key == "quit" {
				return env.None, ErrQuit
			}
		}
		pressed = press(pressed, bits[key])
		if pressed&wintetris.Drop != 0 {
			return env.Action(pressed), nil // a drop ends the tick at once
		}
	}
}

// opposite are the bits that exclude each other; the later key counts.
var opposite = map[wintetris.Bits]wintetris.Bits{
	wintetris.Left: wintetris.Right, wintetris.Right: wintetris.Left,
	wintetris.CW: wintetris.CCW, wintetris.CCW: wintetris.CW,
}

func press(pressed, key wintetris.Bits) wintetris.Bits { return pressed&^opposite[key] | key }
