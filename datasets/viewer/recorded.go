package viewer

import (
	"time"

	"blockyard/env"
	"blockyard/env/dropblox"
)

// recorded is a record of Dropblox, whose choices are resting places, as turns of commands:
// the shortest that lead there.
type recorded struct {
	*replay
	known int // turns in the steps
	path  []dropblox.Command
}

func (r *recorded) grow(deadline time.Time, into *steps) {
	r.advance(deadline)
	// What is played from the last position is known once there is a next.
	for n := 0; r.known < r.ready() && (n < 8 || time.Now().Before(deadline)); n++ {
		r.reel.Seek(r.known)
		into.add(r.reel.State().Score(0))
		into.extend(len(r.words()))
		r.known++
	}
}

// ready is how many turns are known with their commands.
func (r *recorded) ready() int {
	if r.reel.Done() && !r.cut {
		return r.reel.Len()
	}
	return r.reel.Len() - 1
}

// words are the commands of the turn that the reel stands at.
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
		err = errorText(in.Error)
	}
	return in.Reading || r.known < r.ready(), in.Live, err
}

// errorText is a sentence that is an error.
type errorText string

func (e errorText) Error() string { return string(e) }
