package teams

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"sync"
)

// A Guard checks names and passwords. It is safe for concurrent use.
//
// The slow hash is taken once a team: what was right before is remembered under a keyed
// fast one, so that a right password costs no time in a game. Wrong ones are checked one
// at a time, so that guessing leaves a core to the others.
type Guard struct {
	teams map[string]Team
	decoy Team
	key   [32]byte

	slow sync.Mutex
	mu   sync.RWMutex
	seen map[string][sha256.Size]byte
}

// NewGuard makes a guard for these teams.
func NewGuard(list []Team) *Guard {
	g := &Guard{teams: map[string]Team{}, seen: map[string][sha256.Size]byte{}}
	for _, t := range list {
		g.teams[t.Name] = t
	}
	_, _ = rand.Read(g.key[:])
	g.decoy = Team{Iterations: iterations, Salt: make([]byte, saltLen), Hash: make([]byte, sha256.Size)}
	return g
}

// Len is how many teams there are.
func (g *Guard) Len() int { return len(g.teams) }

// Check reports whether this is the team's password. An unknown team takes as long as a
// wrong password.
func (g *Guard) Check(name, password string) bool {
	mac := hmac.New(sha256.New, g.key[:])
	mac.Write([]byte(password))
	fast := [sha256.Size]byte(mac.Sum(nil))
	g.mu.RLock()
	seen, ok := g.seen[name]
	g.mu.RUnlock()
	if ok && subtle.ConstantTimeCompare(seen[:], fast[:]) == 1 {
		return true
	}
	t, known := g.teams[name]
	if !known {
		t = g.decoy
	}
	g.slow.Lock()
	right := subtle.ConstantTimeCompare(t.derive(password), t.Hash) == 1
	g.slow.Unlock()
	if !right || !known {
		return false
	}
	g.mu.Lock()
	g.seen[name] = fast
	g.mu.Unlock()
	return true
}
