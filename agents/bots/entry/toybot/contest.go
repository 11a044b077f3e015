package toybot

import (
	"bufio"
	"fmt"
	"strconv"
	"strings"
	"time"

	"blockyard/agents/contest"
	"blockyard/env"
	"blockyard/env/envtest/toy"
)

// hosted is a contest of the toy games. An answer that is none scores nothing.
var hosted = &contest.Contest{
	About:   "An answer that is late or no number that the card offers scores nothing.",
	Options: []contest.Option{{Name: "card-time", Takes: "TIME", Default: "5s", Clock: true, Help: "Time of an answer."}},
	Open: func(_ *env.Game, s contest.Settings) (*contest.Setup, error) {
		limit, err := s.Time("card-time", time.Millisecond)
		return &contest.Setup{
			New: func(state env.State, moves func(env.Seats, env.Moves)) (contest.Host, bool) {
				r := &referee{state: state.(*toy.State), moves: moves}
				return contest.Host{Referee: r, Limits: contest.FixedPerMove(2*limit, limit, 0)}, false
			},
		}, err
	},
}

// A codec is the protocol: a line with the seat and the position, "card" and numbers, and an answer with the number to
// take.
type codec struct{}

func numbers(s *toy.State, seat *int) []any {
	list := []any{seat, &s.Played, &s.Card}
	for k := range int(s.Seats) {
		list = append(list, &s.Points[k], &s.Last[k])
	}
	return list
}

func (codec) Request(state env.State, t contest.Turn) []string {
	line := "card"
	for _, n := range numbers(state.(*toy.State), &t.Seat) {
		switch n := n.(type) {
		case *int:
			line += " " + strconv.Itoa(*n)
		case *uint8:
			line += " " + strconv.Itoa(int(*n))
		}
	}
	return []string{line}
}

// ReadTurn implements contest.Codec. The bot does not know the next card.
func (codec) ReadTurn(r *bufio.Reader, state env.State) (t contest.Turn, err error) {
	line, _, err := contest.ReadLine(r)
	if err != nil {
		return t, err
	}
	s := state.(*toy.State)
	if _, err := fmt.Sscan(strings.TrimPrefix(line, "card"), numbers(s, &t.Seat)...); err != nil {
		return t, fmt.Errorf("%w: %.80q: %w", contest.ErrOutOfSync, line, err)
	}
	s.Next = 1
	return t, nil
}

func (codec) Answer(_ env.State, _ int, a env.Action) string {
	if a == env.None {
		return "0"
	}
	return strconv.Itoa(int(a)%3 + 1)
}

func (c codec) Judge(s env.State, seat int, answer string) env.Action {
	for _, a := range s.Legal(seat, nil) {
		if c.Answer(s, seat, a) == answer {
			return a
		}
	}
	return env.None
}

// A referee is the host's side of one game: it asks every seat that acts, and plays their answers.
type referee struct {
	state *toy.State
	moves func(env.Seats, env.Moves)
	now   env.Moves
}

func (r *referee) Names() []string { return []string{"one", "two", "three"}[:r.state.Seats] }

func (r *referee) Round() (title string, seats []int) {
	r.now = env.NoMoves
	for set := r.state.Acting(); set != 0; set = set.Rest() {
		seats = append(seats, set.First())
	}
	return "", seats
}

func (r *referee) Request(seat int, left time.Duration) contest.Request {
	return contest.Request{Lines: codec{}.Request(r.state, contest.Turn{Seat: seat, Budget: left})}
}

func (r *referee) Answer(seat int, reply contest.Reply) (remarks []string, out bool) {
	if reply.Fault == contest.NoFault {
		r.now[seat] = codec{}.Judge(r.state, seat, reply.Line)
	}
	if r.now[seat] == env.None {
		remarks = []string{"no number that the card offers"}
	}
	return remarks, reply.Fault == contest.Gone || reply.Fault == contest.Missing
}

func (r *referee) Close() []contest.Comment {
	r.moves(r.state.Acting(), r.now)
	r.state.Step(r.now)
	return nil
}

func (r *referee) Outcome() contest.Outcome {
	o := contest.Outcome{Winner: contest.Nobody, Reason: "cards"}
	for seat := range int(r.state.Seats) {
		o.Points = append(o.Points, r.state.Score(seat))
		if r.state.Result(seat) > 0 {
			o.Winner = seat
		}
	}
	return o
}
