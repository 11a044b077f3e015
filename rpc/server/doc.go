// Package server plays games for clients over connections. ../PROTOCOL.md is its specification.
//
// A connection is a session with two goroutines: one reads requests and refuses those over a limit, the
// other answers them in order. The queue between them holds as many requests as the limit max_inflight
// allows. A session owns its handles and frees them when the connection ends, for whatever reason. A
// handle is a vec.Env, that is, many games that a client opened together, and its slab: the memory that
// holds the result of one step of all of them.
//
// Two rules keep a step fast. It allocates nothing. And each slab is written once, in the memory from
// which it is sent, or in memory that the client maps too. A client may write to shared memory at any
// time; the server therefore copies actions out of it before using them, and keeps what it needs after
// writing a slab in private memory as well (see type place).
package server
