package limits

import (
	"sync"

	"blockyard/rpc/wire"
)

// A Use is what something takes of the numbers that the kernel and the runtime bound. Running out of one of them would
// end the whole server, not only the request that needs one more.
type Use struct {
	Mappings   int // of memory shared with clients
	Files      int // file descriptors
	Goroutines int
	Timers     int
}

// SessionUse is what a connection takes: its socket, the goroutines that read and answer, and the read and the write
// deadline.
var SessionUse = Use{Files: 1, Goroutines: 2, Timers: 2}

// Add adds v to u.
func (u *Use) Add(v Use) {
	u.Mappings += v.Mappings
	u.Files += v.Files
	u.Goroutines += v.Goroutines
	u.Timers += v.Timers
}

func (u Use) negative() Use { return Use{-u.Mappings, -u.Files, -u.Goroutines, -u.Timers} }

// A Ledger counts what is open and refuses what exceeds the limits of the server or of a token.
type Ledger struct {
	limits  Limits
	holders []*Holder // of the tokens
	*Replies

	mu   sync.Mutex
	open Open
}

// Open is what is open now.
type Open struct {
	Sessions int // admitted clients
	Handles  int
	Envs     int
	Memory   int64 // bytes
	Use
	Tokens []TokenCount // of the tokens with a name
}

// A TokenCount is what all sessions with a token have open. Tokens without a name are left out.
type TokenCount struct {
	Name           string
	Sessions, Envs int
	Memory         int64 // bytes
}

// NewLedger returns a ledger in which nothing is open.
func NewLedger(l Limits, tokens []Token) *Ledger {
	return &Ledger{limits: l, holders: newHolders(tokens), Replies: newReplies(&l)}
}

// Open returns what is open.
func (l *Ledger) Open() Open {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := l.open
	for _, h := range l.holders {
		if h.Name() != "" {
			out.Tokens = append(out.Tokens, TokenCount{h.Name(), h.sessions, h.envs, h.memory})
		}
	}
	return out
}

// Stats is what all sessions with the token have open; nil if it has no name.
func (l *Ledger) Stats(h *Holder) map[string]any {
	if h.Name() == "" {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return map[string]any{"name": h.Name(), "sessions": h.sessions, "envs": h.envs, "memory": h.memory}
}

// Admit counts a client with a token, or fails if there are too many.
func (l *Ledger) Admit(h *Holder) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := h.room(1, 0, 0); err != nil {
		return err
	}
	if limit := int64(l.limits.MaxSessions); int64(l.open.Sessions) >= limit {
		return wire.Exceeds("max_sessions", limit, limit+1, "--max-sessions")
	}
	if err := l.take(SessionUse); err != nil {
		return err
	}
	h.add(1, 0, 0)
	l.open.Sessions++
	return nil
}

// Leave is the inverse of Admit.
func (l *Ledger) Leave(h *Holder) {
	l.mu.Lock()
	defer l.mu.Unlock()
	h.add(-1, 0, 0)
	l.open.Sessions--
	l.open.Use.Add(SessionUse.negative())
}

// account adds to the counts of what is open with a token, in environments and estimated bytes of memory, or adds
// nothing and fails if that exceeds a limit. Negative numbers never fail.
func (l *Ledger) account(h *Holder, handles, envs int, memory int64) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := h.room(0, envs, memory); err != nil {
		return err
	}
	if have := l.open.Envs + envs; envs > 0 && have > l.limits.MaxEnvs {
		return wire.Exceeds("max_envs", int64(l.limits.MaxEnvs), int64(have), "--max-envs")
	}
	if have := l.open.Memory + memory; memory > 0 && have > l.limits.MaxMemory {
		return wire.Exceeds("max_memory", l.limits.MaxMemory, have, "--max-memory")
	}
	l.add(h, handles, envs, memory)
	return nil
}

// Linger adds to the memory of what is open with a token, without a limit: it was part of what is being closed.
func (l *Ledger) Linger(h *Holder, n int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.add(h, 0, 0, n)
}

// add adds to the counts. The caller holds mu.
func (l *Ledger) add(h *Holder, handles, envs int, memory int64) {
	l.open.Handles += handles
	l.open.Envs += envs
	l.open.Memory += memory
	h.add(0, envs, memory)
}

// Take adds u to what is in use, or adds nothing and fails if that exceeds a limit.
func (l *Ledger) Take(u Use) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.take(u)
}

// take is Take for a caller that holds mu.
func (l *Ledger) take(u Use) error {
	have := &l.open.Use
	for _, v := range []struct {
		name, flag       string
		have, more, most int
	}{
		{"max_mappings", "--max-mappings", have.Mappings, u.Mappings, l.limits.MaxMappings},
		{"max_files", "--max-files", have.Files, u.Files, l.limits.MaxFiles},
		{"max_goroutines", "--max-goroutines", have.Goroutines, u.Goroutines, l.limits.MaxGoroutines},
		{"max_timers", "--max-timers", have.Timers, u.Timers, l.limits.MaxTimers},
	} {
		if v.more > 0 && v.have+v.more > v.most {
			return wire.Exceeds(v.name, int64(v.most), int64(v.have+v.more), v.flag)
		}
	}
	have.Add(u)
	return nil
}

// Give returns what Take added.
func (l *Ledger) Give(u Use) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open.Use.Add(u.negative())
}

// ReplyRoom is the space that a response needs beside its bulk data.
const ReplyRoom = 1024

// Room returns how many bytes of bulk data fit into a response.
func (l *Ledger) Room() int { return l.limits.MaxReply - ReplyRoom }

// Fits returns an error if n bytes of bulk data do not fit into a response.
func (l *Ledger) Fits(n int) error {
	if n <= l.Room() {
		return nil
	}
	return wire.Exceeds("max_reply", int64(l.limits.MaxReply), int64(n+ReplyRoom), "--max-reply")
}
