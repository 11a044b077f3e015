package viewer

import (
	"errors"
	"time"

	"blockyard/env"
	"blockyard/env/dropblox"
)

// recorded is a record of Dropblox as turns of commands. The actions of a record are resting places; the
// commands are the shortest ones that lead there.
type recorded struct {
	*replay
	known int // turns in the steps
	path  []dropblox.Command
}

func (r *recorded) grow(deadline time.Time, into *steps) {
	r.advance(deadline)
	// The action from the last position is known when there is a next one.
	for n := 0; r.known < r.ready() && (n < 8 || time.Now().Before(deadline)); n++ {
		r.reel.Seek(r.known)
		into.add(r.reel.State().Score(0))
		into.extend(len(r.words()))
		r.known++
	}
}

// ready is the number of turns whose commands are known.
func (r *recorded) ready() int {
	if r.reel.Done() && !r.cut {
		return r.reel.Len()
	}
	return r.reel.Len() - 1
}

// words are the commands of the reel's current turn.
func (r *recorded) words() []string {
	s, a := r.reel.State().(*dropblox.State), r.reel.Moves()[0]
	if a == env.None {
		return nil
	}
	path, err := s.Path(a, r.path[:0])
	if r.path = path; err != nil {
		return nil
	}
	var out []string
	for _, c := range path {
		out = append(out, c.String())
	}
	return out
}

func (r *recorded) turn(t int) (*dropblox.Position, []string, error) {
	r.reel.Seek(t)
	p := r.reel.State().(*dropblox.State).Position()
	return &p, r.words(), nil
}

func (r *recorded) state() (reading, live bool, err error) {
	in := r.info()
	if in.Error != "" {
		err = errors.New(in.Error)
	}
	return in.Reading || r.known < r.ready(), in.Live, err
}
