package server

// Buffered is how many bytes of requests are counted as being received.
func (s *Server) Buffered() int64 { return s.buffered.Load() }
