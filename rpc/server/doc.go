// Package server plays games for clients over connections. ../PROTOCOL.md is its specification.
//
// A connection is a session with two goroutines: one reads requests and refuses those over a limit,
// the other answers them in order. The queue between them holds as many requests as the limit
// max_inflight allows. A session owns its handles, each a vec.Env with many games, and frees them
// when the connection ends for whatever reason.
//
// Two rules keep a step fast: it allocates nothing, and its result, the slab, is written once, in the
// memory from which it is sent. Because clients may write to shared memory at any time, whatever the
// server reads again after writing it is kept in private memory; see place.
package server
