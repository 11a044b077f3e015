// Package server plays games for clients over connections, as PROTOCOL.md says.
//
// A connection is a session of two goroutines: one reads messages and refuses what
// exceeds a limit, one answers them in order. Between them stands a queue as long as the
// limit of requests in flight. A session owns its handles (many games at once, a
// vec.Env each) and frees them when the connection ends, whoever ends it.
package server
