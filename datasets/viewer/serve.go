package viewer

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"
)

// Serve serves the page on listener until ctx is done.
func Serve(ctx context.Context, listener net.Listener, l *Library) error {
	addr, ok := listener.Addr().(*net.TCPAddr)
	server := &http.Server{
		Handler:           NewServer(l, ok && addr.IP.IsLoopback()),
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       time.Minute,
		WriteTimeout:      2 * time.Minute,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    32 << 10,
	}
	stop := context.AfterFunc(ctx, func() {
		soon, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if server.Shutdown(soon) != nil {
			server.Close()
		}
	})
	defer stop()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
