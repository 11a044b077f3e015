package contest

import (
	"context"
	"fmt"
	"io"
	"time"
)

// A Program says how to start a bot.
type Program struct {
	Argv   []string
	Dir    string // working directory; "" is that of this process
	Memory int64  // bytes that it may use, with all that it starts; 0 is no limit
	Cage   Cage   // what it may reach; nil is all that this process may
}

// A Player is a program that plays, with its names.
type Player struct {
	Program
	Name  string // to show
	Agent string // what records say that it is
}

// Start starts the bot. Each line of its standard error goes to errs, which is called from another
// goroutine, up to a limit; nil discards them.
func (p Program) Start(errs func(line string)) (*Process, error) {
	if errs == nil {
		errs = func(string) {}
	}
	bot := &Process{answer: make(chan struct{}, 1)}
	spec := Spec{
		Argv: p.Argv, Dir: p.Dir, Memory: p.Memory, Isolate: true, Cage: p.Cage, Input: true, Stdout: bot.listen,
		Stderr: func(r io.Reader) {
			passLines(r, func(line string) {
				fmt.Fprintln(&bot.last, line)
				errs(line)
			})
		},
		Excess: func(why string) { errs("ended: " + why) },
	}
	var err error
	if bot.child, err = StartChild(spec); err != nil {
		return nil, fmt.Errorf("start bot: %w", err)
	}
	return bot, nil
}

// Sleep waits for d, or until ctx ends.
func Sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
	return ctx.Err()
}
