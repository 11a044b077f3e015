// Package limits bounds what the clients of a server may take together, with one token, and in one connection:
// sessions, games, memory, and what the kernel and Go have too little of: mappings, file descriptors, goroutines and
// timers. It counts only and knows no connection and no game. Clients get its errors as they are.
package limits

import (
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
	for _, v := range []struct {
		flag       string
		have, want int64
	}{
		{"--max-message", int64(l.MaxMessage), 1 << 10}, {"--max-reply", int64(l.MaxReply), 64 << 10},
		{"--max-buffered", l.MaxBuffered, 64 << 10}, {"--max-replies", l.MaxReplies, int64(l.MaxReply)},
		{"--max-inflight", int64(l.MaxInflight), 1}, {"--max-sessions", int64(l.MaxSessions), 1},
		{"--max-handles", int64(l.MaxHandles), 1}, {"--max-envs", int64(l.MaxEnvs), 1}, {"--max-memory", l.MaxMemory, 1},
		{"--max-mappings", int64(l.MaxMappings), 1}, {"--max-files", int64(l.MaxFiles), int64(SessionUse.Files)},
		{"--max-goroutines", int64(l.MaxGoroutines), int64(SessionUse.Goroutines)},
		{"--max-timers", int64(l.MaxTimers), int64(SessionUse.Timers)},
	} {
		if v.have < v.want {
			return fmt.Errorf("%s is %d, want at least %d", v.flag, v.have, v.want)
		}
	}
	for _, v := range []struct {
		flag       string
		have, want time.Duration
	}{
		{"--hello-timeout", l.HelloTimeout, time.Millisecond}, {"--frame-timeout", l.FrameTimeout, time.Millisecond},
		{"--write-timeout", l.WriteTimeout, time.Millisecond}, {"--drain-timeout", l.DrainTimeout, 0},
	} {
		if v.have < v.want {
			return fmt.Errorf("%s is %v, want at least %v", v.flag, v.have, v.want)
		}
	}
	return nil
}

// MostWaiting is how many connections may wait for their hello at one listener: all clients may come at the same
// moment, and a few listeners take no more files than Fit leaves for them.
func (l *Limits) MostWaiting() int { return min(l.MaxSessions, max(16, l.MaxFiles/4)) }
