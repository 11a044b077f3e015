// Package library plays WinTetris with a solver in a shared library, through the C interface of
// agents/submit/wintetris/wintetris.h.
//
// The library runs in a child process: this program, started with ServeArgument. A library that
// crashes, hangs, exits or corrupts memory therefore ends one game and not the series. Parent and
// child exchange messages over two pipes, which adds some tens of microseconds to a call. The child
// loads the library without cgo and makes all calls from one thread.
//
// # Limits
//
// In every tick of the game the library is asked for its inputs, as bits. An answer that comes
// after Config.Limit counts as no input. The call goes on, and until it returns, further ticks
// are late as well. If a piece's first tick was late, the next call is marked as the piece's
// first tick. A call that takes longer than Config.Patience is a Fault, as is the end of the
// process; the next game starts a new process.
package library
