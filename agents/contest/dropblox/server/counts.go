package server

import "maps"

// Counts are what a server has done since its start and what goes on now.
type Counts struct {
	Teams         int
	Running       int         // games of practice and of rounds that are not over
	Practice      int         // practice games begun
	Competition   int         // games of rounds begun
	Turns         int         // turns played
	Rounds        int         // rounds that are over
	Requests      map[int]int // by status of the reply
	HistoryErrors int         // games whose history could not be written
}

// Counts returns what the server has done. It may be called at any time.
func (s *Server) Counts() Counts {
	now := s.now()
	s.mu.Lock()
	running := 0
	for _, g := range s.games {
		if g.running(now) {
			running++
		}
	}
	s.mu.Unlock()
	s.counting.Lock()
	defer s.counting.Unlock()
	c := s.counts
	c.Teams, c.Running, c.Requests = s.c.Teams.Len(), running, maps.Clone(c.Requests)
	return c
}

// count changes the counts.
func (s *Server) count(change func(*Counts)) {
	s.counting.Lock()
	defer s.counting.Unlock()
	change(&s.counts)
}
