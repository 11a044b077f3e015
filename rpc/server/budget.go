package server

import (
	"log/slog"

	"blockyard/rpc/wire"
)

// A use is what something takes of the numbers that the kernel and the runtime bound. Running out of one of them would
// end the whole server, not only the request that needs one more.
type use struct {
	mappings   int // of memory shared with clients
	files      int // file descriptors
	goroutines int
	timers     int
}

// sessionUse is what a connection takes: its socket, the goroutines that read and answer, and the read and the write
// deadline.
var sessionUse = use{files: 1, goroutines: 2, timers: 2}

// take adds u to what is in use, or adds nothing and fails if that exceeds a limit.
func (s *Server) take(u use) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.takeLocked(u)
}

func (s *Server) takeLocked(u use) error {
	l, have := &s.limits, &s.use
	for _, v := range []struct {
		name, flag       string
		have, more, most int
	}{
		{"max_mappings", "--max-mappings", have.mappings, u.mappings, l.MaxMappings},
		{"max_files", "--max-files", have.files, u.files, l.MaxFiles},
		{"max_goroutines", "--max-goroutines", have.goroutines, u.goroutines, l.MaxGoroutines},
		{"max_timers", "--max-timers", have.timers, u.timers, l.MaxTimers},
	} {
		if v.more > 0 && v.have+v.more > v.most {
			return wire.Exceeds(v.name, int64(v.most), int64(v.have+v.more), v.flag)
		}
	}
	have.add(u)
	return nil
}

// give returns what take added.
func (s *Server) give(u use) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.use.add(use{-u.mappings, -u.files, -u.goroutines, -u.timers})
}

func (u *use) add(v use) {
	u.mappings += v.mappings
	u.files += v.files
	u.goroutines += v.goroutines
	u.timers += v.timers
}

// Fit lowers MaxMappings and MaxFiles to half of what the kernel allows this process: the other half is for the Go
// runtime, for files and connections that no client asked for, and for agents. It logs what it lowers.
func (l *Limits) Fit(log *slog.Logger) {
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
