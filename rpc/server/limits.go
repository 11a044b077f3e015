package server

import (
	"fmt"
	"runtime"
	"time"

	"blockyard/rpc/wire"
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
	MaxMemory   int64 `default:"${MaxMemory}" help:"Estimated bytes of all open games, opponents and uploads."`

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

// DefaultLimits suit a machine that also runs other programs.
func DefaultLimits() Limits {
	return Limits{
		MaxMessage: 16 << 20, MaxBuffered: 24 << 20, MaxReply: 16 << 20, MaxReplies: 32 << 20,
		MaxInflight: 16, MaxSessions: 64, MaxHandles: 64, MaxEnvs: 1 << 18, MaxMemory: 4 << 30,
		MaxMappings: 1 << 14, MaxFiles: 1 << 10, MaxGoroutines: 1 << 15, MaxTimers: 1 << 13,
		HelloTimeout: 10 * time.Second, FrameTimeout: 10 * time.Second, WriteTimeout: 30 * time.Second,
		DrainTimeout: time.Second,
	}
}

// Limits of requests by kind, in bytes.
const (
	maxBeforeHello = 4 << 10
	maxControl     = 64 << 10
)

// account adds to the counts of what is open, in environments and estimated bytes of memory, or adds
// nothing and fails if that exceeds a limit of the server or of the session's token. Negative numbers never fail.
func (ses *session) account(handles, envs int, memory int64) error {
	s := ses.srv
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := ses.token.room(0, envs, memory); err != nil {
		return err
	}
	if have := s.envs + envs; envs > 0 && have > s.limits.MaxEnvs {
		return wire.Exceeds("max_envs", int64(s.limits.MaxEnvs), int64(have), "--max-envs")
	}
	if have := s.memory + memory; memory > 0 && have > s.limits.MaxMemory {
		return wire.Exceeds("max_memory", s.limits.MaxMemory, have, "--max-memory")
	}
	s.handles += handles
	s.envs += envs
	s.memory += memory
	ses.token.add(0, envs, memory)
	return nil
}

// linger adds to the memory of what is open, without a limit: it was part of a handle that is being closed.
func (ses *session) linger(n int64) {
	if n == 0 {
		return
	}
	ses.srv.mu.Lock()
	defer ses.srv.mu.Unlock()
	ses.srv.memory += n
	ses.token.add(0, 0, n)
}

// exceedsReply is the error for a response of size bytes.
func (s *Server) exceedsReply(size int) error {
	return wire.Exceeds("max_reply", int64(s.limits.MaxReply), int64(size), "--max-reply")
}

// mostGarbage is how many bytes of dropped messages may wait for the garbage collector. On its own
// the collector would let them grow in proportion to the open games.
const mostGarbage = 8 << 20

// collect runs the garbage collector if there is much garbage. Other sessions that need memory wait.
func (s *Server) collect() {
	if s.garbage.Load() < mostGarbage {
		return
	}
	s.collecting.Lock()
	defer s.collecting.Unlock()
	if s.garbage.Load() >= mostGarbage {
		runtime.GC()
		s.garbage.Store(0)
	}
}

// reserve counts n bytes of a response being built, until release.
func (s *Server) reserve(n int) (release func(), err error) {
	r := &reservation{s: s}
	return r.release, r.add(n)
}

// A reservation is the bytes of a response being built.
type reservation struct {
	s *Server
	n int
}

// add counts n bytes more, or fails and leaves the reservation as it is.
func (r *reservation) add(n int) error {
	r.s.collect()
	if have := r.s.replies.Add(int64(n)); have > r.s.limits.MaxReplies {
		r.s.replies.Add(int64(-n))
		return wire.Exceeds("max_replies", r.s.limits.MaxReplies, have, "--max-replies").Recode(wire.Busy, 50)
	}
	r.n += n
	return nil
}

func (r *reservation) release() {
	r.s.garbage.Add(int64(r.n))
	r.s.replies.Add(int64(-r.n))
	r.n = 0
}

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
		{"--max-mappings", int64(l.MaxMappings), 1}, {"--max-files", int64(l.MaxFiles), int64(sessionUse.files)},
		{"--max-goroutines", int64(l.MaxGoroutines), int64(sessionUse.goroutines)},
		{"--max-timers", int64(l.MaxTimers), int64(sessionUse.timers)},
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
