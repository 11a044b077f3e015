package server

import (
	"math"
	"sync"
	"time"

	"blockyard/agents/contest/dropblox/history"
)

// Limits of a team, beside those of Config.
const (
	requestRate   = 1000     // requests per second
	practiceBurst = 10       // practice games that it may start at once
	roundHistory  = 64 << 20 // bytes on disk for the history of a game of a round
)

// A bucket limits a rate: it holds up to so many tokens, one for each event.
type bucket struct {
	spent float64 // tokens that are missing
	at    time.Time
}

// take takes a token, of which there are rate per second and at most burst. It returns 0, or how
// long it takes until there is one.
func (b *bucket) take(now time.Time, rate, burst float64) time.Duration {
	spent := max(0, b.spent-rate*max(0, now.Sub(b.at).Seconds()))
	if spent+1 > burst {
		return time.Duration((spent + 1 - burst) / rate * float64(time.Second))
	}
	b.spent, b.at = spent+1, now
	return 0
}

// An allowance is what a team has used.
type allowance struct {
	mu                 sync.Mutex
	requests, practice bucket
	history            *history.Budget // of its practice games
}

// allowance returns a team's.
func (s *Server) allowance(team string) *allowance {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.allowances[team]
	if a == nil {
		a = &allowance{history: history.NewBudget(s.c.HistoryBytes)}
		s.allowances[team] = a
	}
	return a
}

// request notes a request. It returns how long to wait before another one is accepted, or 0.
func (a *allowance) request(now time.Time) time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.requests.take(now, requestRate, requestRate)
}

// begin notes a practice game. It returns how long to wait before one may be started, or 0.
func (a *allowance) begin(now time.Time, perMinute int) time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.practice.take(now, float64(perMinute)/60, practiceBurst)
}

// wholeSeconds rounds up, as Retry-After has no fractions.
func wholeSeconds(d time.Duration) int { return int(math.Ceil(d.Seconds())) }
