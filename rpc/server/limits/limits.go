// Package limits bounds what the clients of a server may take together, with one token, and in one connection:
// sessions, games, memory, and what the kernel and Go have too little of: mappings, file descriptors, goroutines and
// timers. It counts only and knows no connection and no game. Clients get its errors as they are.
package limits

import (
	"cmp"
	"fmt"
	"time"
)

// Limits bound the memory and time that clients can make a server spend. The tags are those of kong: a
// program can embed Limits in its command line.
type Limits struct {
	MaxMessage  int   `default:"${MaxMessage}" help:"Largest request, in bytes."`
	MaxReply    int   `default:"${MaxReply}" help:"Largest response other than that of a step, in bytes."`
	MaxBuffered int64 `default:"${MaxBuffered}" help:"Bytes of partly received requests of all connections together."`
	MaxReplies  int64 `default:"${MaxReplies}" help:"Bytes of responses being built for all connections together."`
	MaxInflight int   `default:"${MaxInflight}" help:"Unanswered requests of one connection."`
	MaxSessions int   `default:"${MaxSessions}" help:"Connections at the same time, after hello."`
	MaxHandles  int   `default:"${MaxHandles}" help:"Open handles of one connection."`
	MaxEnvs     int   `default:"${MaxEnvs}" help:"Open games of all connections together."`
	MaxMemory   int64 `default:"${MaxMemory}" help:"${max_memory_help}"`

	// Of all connections together; see Fit for the first two.
	MaxMappings   int `default:"${MaxMappings}" help:"Mappings of memory shared with clients."`
	MaxFiles      int `default:"${MaxFiles}" help:"File descriptors: one per connection, one for each mapping being sent."`
	MaxGoroutines int `default:"${MaxGoroutines}" help:"Goroutines: two per connection, and those that step games."`
	MaxTimers     int `default:"${MaxTimers}" help:"Timers: two per connection, one per handle with send and recv."`

	HelloTimeout time.Duration `default:"${HelloTimeout}" help:"Time from the connection to a complete hello."`
	FrameTimeout time.Duration `default:"${FrameTimeout}" help:"Time from the first byte of a request to its last."`
	WriteTimeout time.Duration `default:"${WriteTimeout}" help:"Time for the client to read a response."`
	DrainTimeout time.Duration `default:"${DrainTimeout}" help:"Time for requests in flight when the server is stopped."`
}

// DefaultLimits suit a machine that also runs other programs, and has memory for MaxMemory; see Fitting.
func DefaultLimits() Limits {
	return Limits{
		MaxMessage: 16 << 20, MaxBuffered: 24 << 20, MaxReply: 16 << 20, MaxReplies: 32 << 20,
		MaxInflight: 16, MaxSessions: 64, MaxHandles: 64, MaxEnvs: 1 << 18, MaxMemory: 4 << 30,
		MaxMappings: 1 << 14, MaxFiles: 1 << 10, MaxGoroutines: 1 << 15, MaxTimers: 1 << 13,
		HelloTimeout: 10 * time.Second, FrameTimeout: 10 * time.Second, WriteTimeout: 30 * time.Second,
		DrainTimeout: time.Second,
	}
}

// Lengths of requests by kind, in bytes.
const (
	BeforeHello = 4 << 10
	Control     = 64 << 10
)

// Check returns an error for limits that are too low to serve any client.
func (l *Limits) Check() error {
	return cmp.Or(
		atLeast("--max-message", l.MaxMessage, 1<<10),
		atLeast("--max-reply", l.MaxReply, 64<<10),
		atLeast("--max-buffered", l.MaxBuffered, 64<<10),
		atLeast("--max-replies", l.MaxReplies, int64(l.MaxReply)),
		atLeast("--max-inflight", l.MaxInflight, 1),
		atLeast("--max-sessions", l.MaxSessions, SessionUse.Sessions),
		atLeast("--max-handles", l.MaxHandles, 1),
		atLeast("--max-envs", l.MaxEnvs, 1),
		atLeast("--max-memory", l.MaxMemory, 1),
		atLeast("--max-mappings", l.MaxMappings, 1),
		atLeast("--max-files", l.MaxFiles, SessionUse.Files),
		atLeast("--max-goroutines", l.MaxGoroutines, SessionUse.Goroutines),
		atLeast("--max-timers", l.MaxTimers, SessionUse.Timers),
		atLeast("--hello-timeout", l.HelloTimeout, time.Millisecond),
		atLeast("--frame-timeout", l.FrameTimeout, time.Millisecond),
		atLeast("--write-timeout", l.WriteTimeout, time.Millisecond),
		atLeast("--drain-timeout", l.DrainTimeout, 0),
	)
}

func atLeast[T cmp.Ordered](flag string, have, want T) error {
	if have < want {
		return fmt.Errorf("%s is %v, want at least %v", flag, have, want)
	}
	return nil
}

// MostWaiting is how many connections may wait for their hello at one listener: all clients may come at the same
// moment, and a few listeners take no more files than Fit leaves for them.
func (l *Limits) MostWaiting() int { return min(l.MaxSessions, max(16, l.MaxFiles/4)) }
