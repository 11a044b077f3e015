// Package host plays WinTetris with a solver from anybody's shared library, through the C
// interface of agents/wintetrisabi/lib/wintetris.h.
//
// The library runs in a child process, which is this program started anew with
// ServeArgument, so that one that crashes, hangs, exits or scribbles over memory ends with
// its process and spoils a game, not the series. Parent and child talk in frames over two
// pipes (see frame.go); a call costs some tens of microseconds by that. The child loads the
// library without cgo and makes all calls from one thread.
//
// # Limits
//
// An answer that comes after the limit counts as no bits. The call is left to end: until it
// does, further ticks count as late too, and the first call after it is made as a piece's
// first tick if that was among them. A call still out when patience ends is a Fault, as is
// a process that ends; the next game starts another.
package host
