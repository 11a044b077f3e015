// Package limits bounds what the clients of a server may take together, with one token, and in one connection:
// sessions, games, memory, and what the kernel and Go have too little of: mappings, file descriptors, goroutines and
// timers. It counts only and knows no connection and no game. Clients get its errors as they are.
package limits

import (
	"fmt"
	"io/fs"
	"log/slog"
	"math"
	"path"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Limits bound the memory and time that clients can make a server spend. They are the one list: every flag, what hello
// tells, and the names in errors follow from it. The tags are those of kong, so that a program can embed Limits in its
// command line; least is the lowest value, own a limit that clients are not told, per one that does not bound a Use.
type Limits struct {
	MaxMessage  int   `default:"16777216" least:"1024" help:"Largest request, in bytes."`
	MaxReply    int   `default:"16777216" least:"65536" help:"Largest response other than that of a step, in bytes."`
	MaxBuffered int64 `default:"25165824" least:"65536" own:"1" help:"${max_buffered_help}"`
	MaxReplies  int64 `default:"33554432" least:"1" own:"1" help:"${max_replies_help}"`
	MaxInflight int   `default:"16" least:"1" help:"Unanswered requests of one connection."`
	MaxSessions int   `default:"64" least:"1" help:"Connections at the same time, after hello."`
	MaxHandles  int   `default:"64" least:"1" per:"connection" help:"Open handles of one connection."`
	MaxEnvs     int   `default:"262144" least:"1" help:"Open games of all connections together."`
	MaxMemory   int64 `default:"${MaxMemory}" least:"1" help:"${max_memory_help}"`

	// Of all connections together; see Fit for the first two.
	MaxMappings   int `default:"16384" least:"1" help:"Mappings of memory shared with clients."`
	MaxFiles      int `default:"1024" least:"1" help:"${max_files_help}"`
	MaxGoroutines int `default:"32768" least:"2" help:"Goroutines: two per connection, and those that step games."`
	MaxTimers     int `default:"8192" least:"2" help:"Timers: two per connection, one per handle with send and recv."`

	HelloTimeout time.Duration `default:"10s" least:"1ms" help:"Time from the connection to a complete hello."`
	FrameTimeout time.Duration `default:"10s" least:"1ms" help:"Time from the first byte of a request to its last."`
	WriteTimeout time.Duration `default:"30s" least:"1ms" help:"Time for the client to read a response."`
	DrainTimeout time.Duration `default:"1s" least:"0s" help:"${drain_timeout_help}"`
}

// all are the fields of Limits.
var all = reflect.VisibleFields(reflect.TypeFor[Limits]())

// nameOf is the name of a limit in hello and in errors, such as max_message. Its flag has dashes.
func nameOf(f reflect.StructField) string {
	return strings.ToLower(strings.NewReplacer("Max", "max_", "Timeout", "_timeout").Replace(f.Name))
}

func flagOf(name string) string { return "--" + strings.ReplaceAll(name, "_", "-") }

// number reads a tag: a whole number, or a duration in nanoseconds. It is 0 for text that only a program fills in.
func number(f reflect.StructField, tag string) int64 {
	if d, err := time.ParseDuration(f.Tag.Get(tag)); err == nil {
		return int64(d)
	}
	n, _ := strconv.ParseInt(f.Tag.Get(tag), 10, 64)
	return n
}

// DefaultLimits suit a machine that also runs other programs, and has memory for MaxMemory; see Fitting.
func DefaultLimits() (l Limits) {
	for _, f := range all {
		reflect.ValueOf(&l).Elem().FieldByIndex(f.Index).SetInt(number(f, "default"))
	}
	l.MaxMemory = 4 << 30
	return l
}

// Told are the limits that clients are told, by name.
func (l Limits) Told() map[string]any {
	out := map[string]any{}
	for _, f := range all {
		if f.Tag.Get("own") == "" && f.Type != reflect.TypeFor[time.Duration]() {
			out[nameOf(f)] = reflect.ValueOf(l).FieldByIndex(f.Index).Interface()
		}
	}
	return out
}

// Lengths of requests by kind, in bytes.
const (
	BeforeHello = 4 << 10
	Control     = 64 << 10
)

// Check returns an error for limits that are too low to serve any client.
func (l *Limits) Check() error {
	for _, f := range all {
		have, least := reflect.ValueOf(l).Elem().FieldByIndex(f.Index), reflect.New(f.Type).Elem()
		least.SetInt(number(f, "least"))
		if f.Name == "MaxReplies" {
			least.SetInt(int64(l.MaxReply))
		}
		if have.Int() < least.Int() {
			return fmt.Errorf("%s is %v, want at least %v", flagOf(nameOf(f)), have, least)
		}
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
