// Package wire is the protocol of PROTOCOL.md as bytes: messages taken off a connection
// within bounds, their parts, and the bytes of answers. It knows no game and no server.
//
// Nothing that came over a connection reaches the msgpack library before a scanner of
// this package has walked it: claimed sizes are compared with what has arrived and what
// may still come before memory is made for them, and nesting is counted instead of
// recursed into.
package wire
