package human

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"blockyard/env"
	"blockyard/env/wintetris"
)

// A Ticker plays wintetris:tick in real time: the keys pressed during a tick make its action.
type Ticker struct {
	Next  func(context.Context) (key string, err error)  // waits for a key
	Show  func(s env.State, seat int, paused bool) error // shows the position
	Speed float64                                        // of the clock: 2 is twice as fast; 0 means 1
	Wait  bool                                           // whether the first tick waits for a key
}

var _ env.Agent = (*Ticker)(nil)

// GameFor returns the name of the game in which a person plays the one of this name: WinTetris is played tick by tick.
func GameFor(name string) string {
	if name == wintetris.Game.Name {
		return wintetris.TickGame.Name
	}
	return name
}

// InRealTime reports whether a person plays a game by a clock, with a Ticker.
func InRealTime(g *env.Game) bool { return g.Name == wintetris.TickGame.Name }

// Ticker returns what plays ticks at the player's terminal; speed 1 is the clock of the rules.
func (p *Player) Ticker(speed float64) *Ticker {
	return &Ticker{Next: p.Keys.Next, Speed: speed, Show: func(s env.State, seat int, paused bool) error {
		if err := p.show(s, seat, env.None); err != nil {
			return err
		}
		help := ticksHelp
		if paused {
			help = "paused: any key goes on, q leaves"
		}
		_, err := fmt.Fprintln(p.Out, help)
		return err
	}}
}

// TickTime returns how long a tick lasts at a level and a Ticker.Speed.
func TickTime(level int, speed float64) time.Duration {
	return time.Duration(wintetris.TickMS(level) / cmp.Or(speed, 1) * float64(time.Millisecond))
}

const ticksHelp = "← → move   ↑ turn   z turn back   space drop   p pause   q leave"

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
	if t.Wait && state.Ticks == 0 {
		if err := t.pause(ctx, s, seat); err != nil {
			return env.None, err
		}
	}
	return t.tick(ctx, state, seat)
}

func (t *Ticker) tick(ctx context.Context, state *wintetris.State, seat int) (env.Action, error) {
	if err := t.Show(state, seat, false); err != nil {
		return env.None, err
	}
	tick, done := context.WithTimeout(ctx, TickTime(state.Level(), t.Speed))
	defer done()
	var pressed wintetris.Bits
	for {
		key, err := t.Next(tick)
		switch {
		case errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil:
			return env.Action(pressed), nil
		case err != nil:
			return env.None, err
		case key == "q" || key == "quit":
			return env.None, ErrQuit
		case key == "p":
			if err := t.pause(ctx, state, seat); err != nil {
				return env.None, err
			}
			return t.tick(ctx, state, seat)
		}
		pressed = pressed&^opposite[bits[key]] | bits[key]
		if pressed&wintetris.Drop != 0 {
			return env.Action(pressed), nil // a drop ends the tick at once
		}
	}
}

func (t *Ticker) pause(ctx context.Context, s env.State, seat int) error {
	if err := t.Show(s, seat, true); err != nil {
		return err
	}
	key, err := t.Next(ctx)
	if key == "q" || key == "quit" {
		err = ErrQuit
	}
	return err
}

// opposite is the bit that each bit excludes. Of two such keys in a tick, the later one counts.
var opposite = map[wintetris.Bits]wintetris.Bits{
	wintetris.Left: wintetris.Right, wintetris.Right: wintetris.Left,
	wintetris.CW: wintetris.CCW, wintetris.CCW: wintetris.CW,
}
