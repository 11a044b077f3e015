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
// The slow hash is taken once a team: what was right before is remembered under a keyed
// fast one, so that a right password costs no time in a game. Others are checked one at a
// time, so that guessing leaves a core to the teams, and not too many of them wait.
type Guard struct {
	teams map[string]Team
	decoy Team
	key   [32]byte

	slow    sync.Mutex
	waiting atomic.Int32 // for slow, or holding it
	mu      sync.RWMutex
	seen    map[string][sha256.Size]byte
}

// NewGuard makes a guard for these teams.
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

// Len is how many teams there are.
func (g *Guard) Len() int { return len(g.teams) }

// ErrBusy says that too many passwords wait to be checked: try again.
var ErrBusy = errors.New("too many passwords to check")

// maxWaiting is how many of them may wait.
const maxWaiting = 32

// Check reports whether this is the team's password. An unknown team takes as long as a
// wrong password. The error is ErrBusy.
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
