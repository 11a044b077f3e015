package commands

import (
	"context"
	"log/slog"
	"net"

	"blockyard/rpc/server/limits"

	"blockyard/rpc/commands/watch"
	"blockyard/rpc/server"
	"blockyard/rpc/server/listen"
)

// watchFlags are the flags of serve for those who watch the games of clients.
type watchFlags struct {
	Watch string `placeholder:"HOST:PORT" help:"${watch_help}"`
}

// listen returns the listener of --watch, nil without that flag. Like --listen, it takes an address that other machines
// can reach only if there is a token.
func (f *watchFlags) listen(tokens []limits.Token) (net.Listener, error) {
	if f.Watch == "" {
		return nil, nil
	}
	return listen.Listen("tcp:"+f.Watch, tokens, listen.Credentials{})
}

// serveWatch answers those who watch until ctx is done. Its error goes to end.
func serveWatch(ctx context.Context, l net.Listener, srv *server.Server, log *slog.Logger, end func(error)) {
	if l == nil {
		return
	}
	go func() {
		if err := watch.NewHandler(srv).Serve(ctx, l, log); err != nil {
			end(err)
		}
	}()
}

func closeWatch(l net.Listener) error {
	if l == nil {
		return nil
	}
	return l.Close()
}
