package teams

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"sync"
)

// A Guard checks names and passwords. It is safe for concurrent use.
//
// The slow hash is computed once per team: a correct password is remembered under a fast keyed
// hash, so that checking it takes no time during a game. Other passwords are checked one at a
// time, in turn by address and team, so that guessing neither slows down the teams nor keeps
// them from their first login.
type Guard struct {
	teams map[string]Team
	decoy Team
	key   [32]byte

	slow queue

	mu   sync.RWMutex
	seen map[string][sha256.Size]byte
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

// Check reports whether this is the team's password. For an unknown team it takes as long as
// for a wrong password. from is the address of who asks. The error is that of ctx, or ErrBusy.
func (g *Guard) Check(ctx context.Context, from, name, password string) (bool, error) {
	mac := hmac.New(sha256.New, g.key[:])
	mac.Write([]byte(password))
	fast := [sha256.Size]byte(mac.Sum(nil))
	g.mu.RLock()
	seen, ok := g.seen[name]
	g.mu.RUnlock()
	if ok && subtle.ConstantTimeCompare(seen[:], fast[:]) == 1 {
		return true, nil
	}
	t, known := g.teams[name]
	if !known {
		t = g.decoy
	}
	if err := g.slow.enter(ctx, from, t.Name); err != nil {
		return false, err
	}
	right := subtle.ConstantTimeCompare(t.derive(password), t.Hash) == 1
	g.slow.leave()
	if !right || !known {
		return false, nil
	}
	g.mu.Lock()
	g.seen[name] = fast
	g.mu.Unlock()
	return true, nil
}
