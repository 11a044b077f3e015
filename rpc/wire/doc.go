// Package wire encodes and decodes the messages of ../PROTOCOL.md. It reads requests from a connection
// within bounds, splits them into their parts, and writes responses. It knows no game and no server; for
// what handles, slabs and slots are, see ../PROTOCOL.md.
//
// A scanner walks every message before the msgpack library sees any byte of it. The scanner compares
// each claimed size with what has arrived and what may still arrive before memory is allocated, and
// counts the nesting depth instead of recursing.
package wire
