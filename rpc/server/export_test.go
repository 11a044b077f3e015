package server

// Buffered is how many bytes of requests are counted as being received.
func (s *Server) Buffered() int64 { return s.ledger.Requests.Held() }

// Use is what clients use of the numbers that the kernel and the runtime bound.
func (s *Server) Use() (mappings, files, goroutines, timers int) {
	open := s.ledger.Open()
	return open.Mappings, open.Files, open.Goroutines, open.Timers
}

// Draining tells whether Shutdown has begun.
func (s *Server) Draining() bool { return s.drain.Load() }

// Inflight is how many requests wait for their answer.
func (s *Server) Inflight() int { return s.inflight() }
