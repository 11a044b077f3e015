package program

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// moment is how long signals after the first one still count as the first: programs such as timeout signal a process
// and then the group that it is in.
const moment = 200 * time.Millisecond

// Context returns a context that ends with the first SIGINT (Ctrl-C) or SIGTERM. One of these signals that comes more
// than a moment later ends the process, whatever it is doing. stop lets already the first one do so.
func Context() (ctx context.Context, stop context.CancelFunc) {
	return heed(func(f func()) { time.AfterFunc(moment, f) })
}

// heed is Context with the clock that calls a function after a moment.
func heed(after func(func())) (ctx context.Context, stop context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.Background())
	heard := make(chan os.Signal, 1)
	signal.Notify(heard, os.Interrupt, syscall.SIGTERM)
	ignore := func() { signal.Stop(heard) } // the next signal ends the process
	go func() {
		select {
		case <-heard:
			cancel()
			after(ignore)
		case <-ctx.Done():
			ignore()
		}
	}()
	return ctx, cancel
}
