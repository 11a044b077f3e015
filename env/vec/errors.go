package vec

import (
	"errors"
	"fmt"

	"blockyard/env"
)

// ErrNeedsReset is wrapped by the error about stepping environments that have not been reset
// or, under Disabled, whose episode has ended.
var ErrNeedsReset = errors.New("needs a reset")

// An EnvError says which environments a step was refused for. No environment has changed. It
// wraps env.ErrIllegal or ErrNeedsReset.
type EnvError struct {
	Envs   []int      // the environments at fault, in ascending order, each once
	Row    int        // for an illegal action: row of the first of them
	Seat   int        // for an illegal action: seat in that row
	Action env.Action // for an illegal action: the action
	Err    error
	text   string
}

func (e *EnvError) Error() string {
	if more := len(e.Envs) - 1; more > 0 {
		return fmt.Sprintf("%s (and %d more environments)", e.text, more)
	}
	return e.text
}

func (e *EnvError) Unwrap() error { return e.Err }

func (e *EnvError) blame(i int) {
	if n := len(e.Envs); n == 0 || e.Envs[n-1] != i {
		e.Envs = append(e.Envs, i)
	}
}

// refuse returns an error if a step with these actions must not be taken.
func (e *Env) refuse(actions []env.Action) error {
	var needs, illegal *EnvError
	for i := range e.slots {
		sl := &e.slots[i]
		if !sl.live || sl.ended() && e.c.Autoreset == Disabled {
			if needs == nil {
				needs = &EnvError{Err: ErrNeedsReset, text: fmt.Sprintf("vec %s: environment %d: %v", e.g.Name, i, ErrNeedsReset)}
			}
			needs.blame(i)
			continue
		}
		if sl.ended() || e.c.Illegal != Refuse {
			continue
		}
		for r := range e.rows {
			row := i*e.rows + r
			a := actions[row]
			if sl.seats[r] == NoSeat || a == env.None || e.allows(row, a) {
				continue
			}
			if illegal == nil {
				illegal = e.illegal(i, r, a)
			}
			illegal.blame(i)
		}
	}
	switch {
	case needs != nil:
		return needs
	case illegal != nil:
		return illegal
	}
	return nil
}

func (e *Env) illegal(i, r int, a env.Action) *EnvError {
	name := fmt.Sprintf("%d of %d actions", a, e.g.Actions)
	if int(a) < e.g.Actions {
		name = fmt.Sprintf("%d (%s)", a, e.g.Text(a))
	}
	seat := int(e.slots[i].seats[r])
	return &EnvError{Row: r, Seat: seat, Action: a, Err: env.ErrIllegal,
		text: fmt.Sprintf("vec %s: environment %d, row %d, seat %d: %v: %s", e.g.Name, i, r, seat, env.ErrIllegal, name)}
}
