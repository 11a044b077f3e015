package vec

import "blockyard/env"

// stepAlone is step for games of one seat, which the caller drives: the same, in fewer
// steps of its own, since some of these games take no longer than what is around them.
func (e *Env) stepAlone(w *worker, i int, j *job) error {
	sl, s := &e.slots[i], e.states[i]
	if sl.over || sl.cut {
		sl.episode++
		if err := e.begin(w, i); err != nil {
			return err
		}
		e.observe(w, i, j.out)
		return nil
	}
	moves := env.NoMoves
	if sl.seats[0] == 0 {
		moves[0] = e.choose(sl, i, j.actions[i])
	}
	out, before := j.out, 0
	if e.c.Reward == RewardScore && out.Reward != nil {
		before = s.Score(0)
	}
	s.Step(moves)
	sl.acting = s.Acting()
	sl.over = sl.acting == 0
	sl.steps++
	sl.cut = !sl.over && e.c.StepLimit > 0 && int(sl.steps) >= e.c.StepLimit
	e.lookAlone(w, i)
	e.accountAlone(i, out, before)
	if sl.over || sl.cut {
		sl.length = sl.steps
	}
	if (sl.over || sl.cut) && e.c.Autoreset == SameStep {
		e.show(w, i, out.FinalPlanes, out.FinalGlobals, out.FinalSeat)
		e.showMasks(i, out.FinalLegal)
		sl.episode++
		if err := e.begin(w, i); err != nil {
			return err
		}
	}
	e.showAlone(w, i, out)
	return nil
}

// lookAlone is look.
func (e *Env) lookAlone(w *worker, i int) {
	mask := e.mask(i)
	if len(mask) == 8 {
		*(*[8]byte)(mask) = [8]byte{} // no call
	} else {
		clear(mask)
	}
	switch {
	case e.slots[i].over: // and goes on showing its last position
	case e.maskers != nil:
		e.maskers[i].MaskLegal(0, mask)
	default:
		w.legal = e.states[i].Legal(0, w.legal[:0])
		pack(mask, w.legal)
	}
}

// accountAlone is reward and account; before is the score before the step, if that is asked for.
func (e *Env) accountAlone(i int, out *Batch, before int) {
	s, sl := e.states[i], &e.slots[i]
	if out.Terminated != nil {
		out.Terminated[i] = bit(sl.over)
	}
	if out.Truncated != nil {
		out.Truncated[i] = bit(sl.cut)
	}
	if out.Score != nil {
		out.Score[i] = int32(s.Score(0))
	}
	if out.Reward == nil {
		return
	}
	switch {
	case e.c.Reward == RewardScore:
		out.Reward[i] = float32(s.Score(0) - before)
	case sl.over:
		out.Reward[i] = s.Result(0)
	default:
		out.Reward[i] = 0
	}
}

// showAlone is show and showMasks, of the batch's own slabs.
func (e *Env) showAlone(w *worker, i int, out *Batch) {
	if out.Seat != nil {
		out.Seat[i] = e.slots[i].seats[0]
	}
	if p, q := w.planes, w.globals; out.Planes != nil || out.Globals != nil {
		if out.Planes != nil {
			p = out.Planes[i*e.planes : (i+1)*e.planes : (i+1)*e.planes]
		}
		if g := e.globals; out.Globals != nil {
			q = out.Globals[i*g : (i+1)*g : (i+1)*g]
		}
		e.states[i].Observe(0, p, q)
	}
	e.showMasks(i, out.Legal)
}
