package server

// Buffered is how many bytes of requests are counted as being received.
func (s *Server) Buffered() int64 { return s.buffered.Load() }

// Draining tells whether Shutdown has begun.
func (s *Server) Draining() bool { return s.drain.Load() }

// Inflight is how many requests wait for their answer.
func (s *Server) Inflight() int { return s.inflight() }
