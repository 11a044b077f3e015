// Package wire encodes and decodes the messages of ../PROTOCOL.md. It reads requests from a connection
// within bounds, splits them into their parts, and writes responses. It knows no game and no server; for
// what handles, slabs and slots are, see ../PROTOCOL.md.
//
// A scanner walks every message before the msgpack library sees any byte of it. The scanner compares
// each claimed size with what has arrived and what may still arrive before memory is allocated, and
// counts the nesting depth instead of recursing.
package wire

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"strings"

	"github.com/vmihailenco/msgpack/v5"
)

// Kinds of messages.
const (
	Request      = 0
	Response     = 1
	Notification = 2
)

// A Frame is one received message, complete and split into its parts. It owns its memory, which
// Reader.Next reuses when it gets the same Frame again.
type Frame struct {
	Kind   int
	ID     uint32
	Method []byte
	buf    []byte // the message is buf[:size]; the bytes received after it are buf[size:]
	size   int
	args   [MaxArgs][]byte
	nargs  int
	scan   scanner
	err    error // of the params, see Err

	// Held is for how many bytes of the memory Reader.Grow was called, until its owner resets it, and Kept how many its
	// owner keeps for further messages. Drop resets both.
	Held, Kept int
}

// Cap returns the size of the frame's memory.
func (f *Frame) Cap() int { return cap(f.buf) }

// peek reads kind, id and method from the start of a message; ok is false until they have arrived.
func (f *Frame) peek(b []byte) (rest []byte, ok bool, err error) {
	if len(b) == 0 {
		return nil, false, nil
	}
	t, whole := readToken(b)
	switch {
	case b[0]>>4 != 0x9 && b[0] != 0xdc && b[0] != 0xdd:
		return nil, false, badFrame("a message begins with 0x%02x, want an array", b[0])
	case !whole || len(b) == t.head:
		return nil, false, nil
	}
	b, count := b[t.head:], t.count
	f.Kind = int(b[0])
	b = b[1:]
	switch {
	case f.Kind == Request && count == 4:
		if t, ok := readToken(b); !ok || len(b) < t.head+int(min(t.payload, 8)) {
			return nil, false, nil
		}
		id, err := readUint(b)
		if err != nil || id > math.MaxUint32 {
			return nil, false, badFrame("the id of a request is not an integer from 0 to 4294967295")
		}
		f.ID = uint32(id)
		b = b[skip(b):]
	case f.Kind == Notification && count == 3:
	default:
		return nil, false, badFrame("an array of %d elements that begins with %d, want a request (4 and 0) "+
			"or a notification (3 and 2)", count, f.Kind)
	}
	t, whole = readToken(b)
	switch {
	case !whole:
		return nil, false, nil
	case !isStr(b[0]):
		return nil, false, badFrame("the method is not a string")
	case t.payload > MaxMethod:
		return nil, false, badFrame("the method's name has %d bytes, want at most %d", t.payload, MaxMethod)
	case len(b) < t.head+int(t.payload):
		return nil, false, nil
	}
	f.Method = b[t.head : t.head+int(t.payload)]
	return b[t.head+int(t.payload):], true, nil
}

// split finds the params in a complete message.
func (f *Frame) split() error {
	rest, ok, err := f.peek(f.buf[:f.size])
	if err != nil {
		return err
	}
	if !ok || !isArray(rest[0]) {
		return badFrame("params is not an array")
	}
	t, _ := readToken(rest)
	if t.count > MaxArgs {
		return badFrame("%d params, want at most %d", t.count, MaxArgs)
	}
	rest = rest[t.head:]
	f.nargs = int(t.count)
	for i := range f.nargs {
		n := skip(rest)
		f.args[i], rest = rest[:n], rest[n:]
	}
	return nil
}

// Err returns the first error of the params that were read since the last call. After it they are read as zero.
func (f *Frame) Err() error {
	err := f.err
	f.err = nil
	return err
}

// Fail has Err return an error, unless there is one already.
func (f *Frame) Fail(err error) { f.err = cmp.Or(f.err, err) }

// Int returns param i, which must be an integer from low to high; see Err.
func (f *Frame) Int(i int, name string, low, high int64) int64 {
	if !f.has(i, name) {
		return 0
	}
	v, err := readUint(f.args[i])
	if err != nil || v > uint64(high) || int64(v) < low {
		f.err = f.bad("%s is not an integer from %d to %d", name, low, high)
		return 0
	}
	return int64(v)
}

// Str returns param i, which must be a string; see Err.
func (f *Frame) Str(i int, name string) string {
	if !f.has(i, name) {
		return ""
	}
	b := f.args[i]
	if !isStr(b[0]) {
		f.err = f.bad("%s is not a string", name)
		return ""
	}
	t, _ := readToken(b)
	return string(b[t.head:])
}

// has reports whether param i can be read. It is an error if it is missing.
func (f *Frame) has(i int, name string) bool {
	if f.err == nil && i >= f.nargs {
		f.err = f.bad("params[%d] is missing, want %s", i, name)
	}
	return f.err == nil
}

// Bin returns the bytes of param i, which must be a bin; nil if it is nil or missing. The frame owns them. See Err.
func (f *Frame) Bin(i int, name string) []byte {
	if f.err != nil || f.Absent(i) {
		return nil
	}
	b := f.args[i]
	if b[0] < 0xc4 || b[0] > 0xc6 {
		f.err = f.bad("%s is not a bin", name)
		return nil
	}
	t, _ := readToken(b)
	return b[t.head:]
}

// Options decodes param i, a map, into the struct that into points to. Fields without an entry in the map
// keep their values. A missing or nil param is an empty map. An entry without a field is an error. Like Err, it returns
// the first error of all params so far.
func (f *Frame) Options(i int, into any) error {
	if f.err != nil || f.Absent(i) {
		return f.Err()
	}
	b := f.args[i]
	if b[0]>>4 != 8 && b[0] != 0xde && b[0] != 0xdf {
		return f.bad("params[%d] is not a map, want the options", i)
	}
	d := msgpack.GetDecoder()
	defer msgpack.PutDecoder(d)
	d.Reset(bytes.NewReader(b))
	d.DisallowUnknownFields(true)
	d.SetCustomStructTag("json") // for types that are not of the wire alone
	if err := d.Decode(into); err != nil {
		return f.bad("options: %s", strings.TrimPrefix(err.Error(), "msgpack: "))
	}
	return nil
}

// A Natural is an option that is 0 or more, such as a seed. A plain uint64 would take -1 for the largest number.
type Natural uint64

// DecodeMsgpack implements msgpack.CustomDecoder. It refuses a negative number.
func (n *Natural) DecodeMsgpack(d *msgpack.Decoder) error {
	code, err := d.PeekCode()
	if err != nil {
		return err
	}
	if code >= 0xe0 || code >= 0xd0 && code <= 0xd3 { // signed
		v, err := d.DecodeInt64()
		if err == nil && v < 0 {
			err = fmt.Errorf("a seed, or a game's number, is %d: want 0 to 2^64-1", v)
		}
		*n = Natural(v)
		return err
	}
	v, err := d.DecodeUint64()
	*n = Natural(v)
	return err
}

// Absent reports whether param i is nil or missing.
func (f *Frame) Absent(i int) bool { return i >= f.nargs || f.args[i][0] == 0xc0 }

func (f *Frame) bad(format string, args ...any) *Error {
	return Errorf(BadParams, "%s: %s", f.Method, fmt.Sprintf(format, args...))
}

// Most returns an error if there are more than n params.
func (f *Frame) Most(n int) error {
	if f.nargs > n {
		return f.bad("%d params, want at most %d", f.nargs, n)
	}
	return nil
}

func isStr(c byte) bool   { return c>>5 == 5 || c >= 0xd9 && c <= 0xdb }
func isArray(c byte) bool { return c>>4 == 9 || c == 0xdc || c == 0xdd }

// readUint reads the integer at the start of b, which is complete and must not be negative.
func readUint(b []byte) (uint64, error) {
	switch c := b[0]; {
	case c < 0x80:
		return uint64(c), nil
	case c == 0xcc || c == 0xd0 && b[1] < 0x80:
		return uint64(b[1]), nil
	case c == 0xcd || c == 0xd1 && b[1] < 0x80:
		return uint64(binary.BigEndian.Uint16(b[1:])), nil
	case c == 0xce || c == 0xd2 && b[1] < 0x80:
		return uint64(binary.BigEndian.Uint32(b[1:])), nil
	case c == 0xcf || c == 0xd3 && b[1] < 0x80:
		return binary.BigEndian.Uint64(b[1:]), nil
	}
	return 0, badFrame("not an integer of zero or more")
}

// Drop releases the frame's memory.
func (f *Frame) Drop() { f.buf, f.Kept, f.Held = nil, 0, 0 }
