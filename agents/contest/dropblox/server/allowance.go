package server

import (
	"time"

	"golang.org/x/time/rate"

	"blockyard/agents/contest/dropblox/history"
)

// Limits of a team, beside those of Config.
const (
	requestRate   = 1000     // requests per second
	practiceBurst = 10       // practice games that it may start at once
	roundHistory  = 64 << 20 // bytes on disk for the history of a game of a round
)

// take takes a token of a limit. It returns 0, or how long it takes until there is one.
func take(l *rate.Limiter, now time.Time) time.Duration {
	r := l.ReserveN(now, 1)
	wait := r.DelayFrom(now)
	if wait > 0 {
		r.CancelAt(now)
	}
	return wait
}

// An allowance is what a team has used.
type allowance struct {
	requests, practice *rate.Limiter
	history            *history.Budget // of its practice games
}

// allowance returns a team's.
func (s *Server) allowance(team string) *allowance {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.allowances[team]
	if a == nil {
		a = &allowance{
			requests: rate.NewLimiter(requestRate, requestRate),
			practice: rate.NewLimiter(rate.Limit(float64(s.c.Practice)/60), practiceBurst),
			history:  history.NewBudget(s.c.HistoryBytes),
		}
		s.allowances[team] = a
	}
	return a
}
