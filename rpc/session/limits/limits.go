// Package limits bounds what the clients of a server may take together, with one token, and in one connection:
// sessions, games, memory, and what the kernel and Go have too little of: mappings, file descriptors, goroutines and
// timers. It counts only and knows no connection and no game. Clients get its errors as they are.
package limits

import (
	"cmp"
	"fmt"
	"io/fs"
	"log/slog"
	"math"
	"path"
	"strconv"
	"strings"
	"sync"
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

// Fit lowers MaxMappings and MaxFiles to half of what the kernel allows this process: the other half is for the Go
// runtime, for files and connections that no client asked for, and for agents. It logs what it lowers, and warns of a
// MaxMemory for which this machine has too little, unless it is Unlimited.
func (l *Limits) Fit(log *slog.Logger) {
	if fits, bound := Fitting(); l.MaxMemory > fits && l.MaxMemory != Unlimited {
		log.Warn("the machine has too little memory for --max-memory: the kernel may end this process", "value", l.MaxMemory,
			"fits", fits, "bound", bound)
	}
	mappings, files := kernelLimits()
	for _, v := range []struct {
		flag, kernel string
		limit        *int
		most         int
	}{
		{"--max-mappings", "vm.max_map_count", &l.MaxMappings, mappings / 2},
		{"--max-files", "RLIMIT_NOFILE (ulimit -n)", &l.MaxFiles, files / 2},
	} {
		if *v.limit > v.most {
			log.Warn("limit lowered to half of what the kernel allows", "limit", v.flag, "from", *v.limit, "to", v.most,
				"kernel", v.kernel)
			*v.limit = v.most
		}
	}
}

// Unlimited is the memory of a process that nothing bounds, and a MaxMemory that bounds nothing.
const Unlimited = int64(math.MaxInt64)

// Fitting returns the largest MaxMemory that leaves this process room for all else, out of the memory that it may take,
// and what bounds that. It is a quarter less, for what a process takes beyond MaxMemory, or half of little memory.
func Fitting() (bytes int64, bound string) {
	most, bound := machine()
	return fitting(most), bound
}

// machine is machineMemory at the start, before this process takes much.
var machine = sync.OnceValues(machineMemory)

func fitting(most int64) int64 {
	const beside = 256 << 20
	return max(min(most-most/4, most-beside), most/2)
}

// cgroupMemory returns the memory that the control groups of this process allow, in bytes: the least of its group and
// of all above it, of version 2 and 1. root is the root of the file system.
func cgroupMemory(root fs.FS) int64 {
	groups, err := fs.ReadFile(root, "proc/self/cgroup")
	if err != nil {
		return Unlimited
	}
	most := Unlimited
	for line := range strings.Lines(string(groups)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3) // number, controllers, path
		if len(parts) != 3 {
			continue
		}
		mount, file := "sys/fs/cgroup", "memory.max"
		if parts[1] == "memory" {
			mount, file = "sys/fs/cgroup/memory", "memory.limit_in_bytes"
		} else if parts[1] != "" {
			continue
		}
		for group := path.Clean("/" + parts[2]); ; group = path.Dir(group) {
			if b, err := fs.ReadFile(root, path.Join(mount, group, file)); err == nil {
				if n, err := strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64); err == nil { // else "max"
					most = min(most, n)
				}
			}
			if group == "/" {
				break
			}
		}
	}
	return most
}
