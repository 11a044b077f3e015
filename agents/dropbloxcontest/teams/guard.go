package teams

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"sync"
	"sync/atomic"
)

// A Guard checks names and passwords. It is safe for concurrent use.
//
// The slow hash is computed once per team: a correct password is remembered under a fast keyed
// hash, so that checking it takes no time during a game. Other passwords are checked one at a
// time, and only a limited number may wait, so that guessing does not slow down the teams.
type Guard struct {
	teams map[string]Team
	decoy Team
	key   [32]byte

	slow    sync.Mutex
	waiting atomic.Int32 // number of goroutines that hold slow or wait for it
	mu      sync.RWMutex
	seen    map[string][sha256.Size]byte
}

// NewGuard returns a guard for these teams.
func NewGuard(list []Team) *Guard {
	g := &Guard{teams: map[string]Team{}, seen: map[string][sha256.Size]byte{}}
	g.decoy = Team{Iterations: 1, Salt: make([]byte, saltLen), Hash: make([]byte, sha256.Size)}
	for _, t := range list {
		g.teams[t.Name] = t
		g.decoy.Iterations = max(g.decoy.Iterations, t.Iterations)
	}
	_, _ = rand.Read(g.key[:])
	return g
}

// Len returns the number of teams.
func (g *Guard) Len() int { return len(g.teams) }

// ErrBusy says that too many passwords are waiting to be checked.
var ErrBusy = errors.New("too many passwords are waiting to be checked: try again later")

// maxWaiting is the number of passwords that may wait.
const maxWaiting = 32

// Check reports whether this is the team's password. For an unknown team it takes as long as
// for a wrong password. The only error is ErrBusy.
func (g *Guard) Check(name, password string) (bool, error) {
	mac := hmac.New(sha256.New, g.key[:])
	mac.Write([]byte(password))
	fast := [sha256.Size]byte(mac.Sum(nil))
	g.mu.RLock()
	seen, ok := g.seen[name]
	g.mu.RUnlock()
	if ok && subtle.ConstantTimeCompare(seen[:], fast[:]) == 1 {
		return true, nil
	}
	defer g.waiting.Add(-1)
	if g.waiting.Add(1) > maxWaiting {
		return false, ErrBusy
	}
	t, known := g.teams[name]
	if !known {
		t = g.decoy
	}
	g.slow.Lock()
	right := subtle.ConstantTimeCompare(t.derive(password), t.Hash) == 1
	g.slow.Unlock()
	if !right || !known {
		return false, nil
	}
	g.mu.Lock()
	g.seen[name] = fast
	g.mu.Unlock()
	return true, nil
}
