package contest

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"blockyard/env"
)

// externalTime is what an external agent has for a choice where nobody set a deadline.
const externalTime = 10 * time.Second

// External runs argv as a player: a bot that talks through c, which belongs to it. It
// starts with the first choice. Close ends it. A bot that misses the deadline plays None;
// one that has ended is an error.
func External(c Codec, argv ...string) *Outsider { return &Outsider{codec: c, argv: argv} }

// An Outsider is an env.Agent that is somebody else's program.
type Outsider struct {
	codec   Codec
	argv    []string
	process *Process
	sent    bytes.Buffer
}

var _ env.Agent = (*Outsider)(nil)

// Act implements env.Agent.
func (o *Outsider) Act(ctx context.Context, s env.State, seat int) (env.Action, error) {
	if o.process == nil {
		p, err := Start(o.argv, nil)
		if err != nil {
			return env.None, err
		}
		o.process = p
	}
	limit := externalTime
	if at, ok := ctx.Deadline(); ok {
		limit = time.Until(at)
	}
	o.sent.Reset()
	if err := o.codec.WriteTurn(&o.sent, s, Turn{Seat: seat, Budget: limit, PerMove: limit}); err != nil {
		return env.None, err
	}
	lines := strings.Split(strings.TrimSuffix(o.sent.String(), "\n"), "\n")
	line, _, _, err := o.process.Ask(ctx, lines, limit)
	if errors.Is(err, ErrLate) || errors.Is(err, context.DeadlineExceeded) {
		return env.None, nil
	}
	if err != nil {
		return env.None, fmt.Errorf("%s: %w", strings.Join(o.argv, " "), err)
	}
	return o.codec.ReadMove(bufio.NewReader(strings.NewReader(line+"\n")), s, seat)
}

// Close ends the program.
func (o *Outsider) Close() error {
	if o.process == nil {
		return nil
	}
	return o.process.Close()
}
