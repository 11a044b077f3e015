// Package program lets signals end a program: the first one asks it to stop, the second ends it at once.
package program

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// Context returns a context that ends with the first SIGINT (Ctrl-C) or SIGTERM. The next of these signals ends the
// process, whatever it is doing. stop lets already the first one do so.
func Context() (ctx context.Context, stop context.CancelFunc) {
	ctx, stop = signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}
