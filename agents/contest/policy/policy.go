// Package policy plays with a policy of another process, such as one of Python, which is an env.Agent here.
package policy

import (
	"bufio"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"

	"blockyard/agents/contest"
	"blockyard/env"
)

var errClosed = errors.New("the process of the policy has closed its output")

// A Policy is an agent whose actions another process chooses, from what a seat observes. The process gets a line of
// JSON, which describes the game, and for each choice the planes (a byte a cell), the globals (float32) and the mask (a
// byte an action, 1 where it is legal). It answers a 0 as soon as it is ready, and then each choice with the id of a
// legal action. All numbers are in little-endian order, answers and ids are two bytes.
type Policy struct {
	child   *contest.Child
	answers chan env.Action // closed when the process has closed its output
	stop    context.Context // ends the wait for an answer
	game    *env.Game
	planes  []uint8
	globals []float32
	legal   []env.Action
	ask     []byte
}

// Start starts the command, which the user trusts, for a game; what it prints as errors goes to notes. It waits until
// the process is ready.
func Start(ctx context.Context, argv []string, g *env.Game, notes io.Writer) (*Policy, error) {
	p := &Policy{answers: make(chan env.Action, 1), stop: ctx, game: g,
		planes: make([]uint8, g.Planes.Len()), globals: make([]float32, g.Globals())}
	var err error
	p.child, err = contest.StartChild(contest.Spec{Argv: argv, Cage: contest.Trusted, Input: true,
		Stdout: p.read, Stderr: contest.PassOn(notes, math.MaxInt64)})
	if err != nil {
		return nil, err
	}
	about, _ := json.Marshal(map[string]any{
		"game": g.Name, "planes": []int{g.Planes.C, g.Planes.H, g.Planes.W}, "globals": g.Globals(), "actions": g.Actions,
	})
	if _, err := p.choice(append(about, '\n')); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

// read passes the answers on to their end.
func (p *Policy) read(r io.Reader) {
	defer close(p.answers)
	for in, two := bufio.NewReader(r), make([]byte, 2); ; {
		if _, err := io.ReadFull(in, two); err != nil {
			return
		}
		select {
		case p.answers <- env.Action(binary.LittleEndian.Uint16(two)):
		case <-p.stop.Done():
			return
		}
	}
}

// choice sends a question and waits for its answer, as long as it takes.
func (p *Policy) choice(ask []byte) (env.Action, error) {
	_, err := p.child.In.Write(ask)
	if err == nil {
		select {
		case a, ok := <-p.answers:
			if ok {
				return a, nil
			}
		case <-p.stop.Done():
			err = p.stop.Err()
		}
	}
	return env.None, fmt.Errorf("%w: %w", contest.ErrEnded, cmp.Or(err, errClosed))
}

// Act asks for an action however little time there is: a policy knows of no clock.
func (p *Policy) Act(_ context.Context, s env.State, seat int) (env.Action, error) {
	s.Observe(seat, p.planes, p.globals)
	p.ask = append(p.ask[:0], p.planes...)
	for _, x := range p.globals {
		p.ask = binary.LittleEndian.AppendUint32(p.ask, math.Float32bits(x))
	}
	mask := len(p.ask)
	p.ask = append(p.ask, make([]byte, p.game.Actions)...)
	p.legal = s.Legal(seat, p.legal[:0])
	for _, a := range p.legal {
		p.ask[mask+int(a)] = 1
	}
	return p.choice(p.ask)
}

// Close ends the process.
func (p *Policy) Close() error {
	_ = p.child.Kill()
	return nil
}
