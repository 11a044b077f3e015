package wire

import (
	"bytes"
	"encoding/binary"
	"math"

	"github.com/vmihailenco/msgpack/v5"
)

// Kinds of messages.
const (
	Request      = 0
	Response     = 1
	Notification = 2
)

// MaxArgs is the most elements params may have.
const MaxArgs = 8

// MaxMethod is the longest name of a method, in bytes.
const MaxMethod = 32

// A Frame is one message as it came: whole, bounded, and split into its parts. It owns
// its memory, which Reader.Next reuses when the same Frame is given again.
type Frame struct {
	Kind   int
	ID     uint32
	Method []byte
	buf    []byte // the message is buf[:size]; what came behind it is buf[size:]
	size   int
	args   [MaxArgs][]byte
	nargs  int
	scan   scanner
}

// Len returns how many bytes the message has.
func (f *Frame) Len() int { return f.size }

// Cap returns how much memory the frame holds.
func (f *Frame) Cap() int { return cap(f.buf) }

// NArgs returns how many elements params has.
func (f *Frame) NArgs() int { return f.nargs }

// peek reads kind, id and method from the front of a message of which more may be to
// come; ok is false as long as they have not arrived.
func (f *Frame) peek(b []byte) (rest []byte, ok bool, err error) {
	if len(b) == 0 {
		return nil, false, nil
	}
	t, whole := readToken(b)
	switch {
	case b[0]>>4 != 0x9 && b[0] != 0xdc && b[0] != 0xdd:
		return nil, false, badFrame("a message is an array, not 0x%02x…", b[0])
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
			return nil, false, badFrame("the id of a request is an integer of 32 bits")
		}
		f.ID = uint32(id)
		b = b[skip(b):]
	case f.Kind == Notification && count == 3:
		f.ID = 0
	default:
		return nil, false, badFrame("an array of %d that begins with %d is neither request nor notification", count, f.Kind)
	}
	t, whole = readToken(b)
	switch {
	case !whole:
		return nil, false, nil
	case !isStr(b[0]):
		return nil, false, badFrame("the method is not a string")
	case t.payload > MaxMethod:
		return nil, false, badFrame("a method's name of %d bytes", t.payload)
	case len(b) < t.head+int(t.payload):
		return nil, false, nil
	}
	f.Method = b[t.head : t.head+int(t.payload)]
	return b[t.head+int(t.payload):], true, nil
}

// split finds the elements of params in a complete message.
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
		return badFrame("%d params, %d are the most", t.count, MaxArgs)
	}
	rest = rest[t.head:]
	f.nargs = int(t.count)
	for i := range f.nargs {
		n := skip(rest)
		f.args[i], rest = rest[:n], rest[n:]
	}
	return nil
}

// Int returns integer i of params, refusing what is none or outside low … high.
func (f *Frame) Int(i int, name string, low, high int64) (int64, error) {
	if i >= f.nargs {
		return 0, Errorf(BadParams, "%s: params lacks %s, its number %d", f.Method, name, i)
	}
	b := f.args[i]
	v, err := readUint(b)
	if err != nil || v > uint64(high) || int64(v) < low {
		return 0, Errorf(BadParams, "%s: %s is not an integer from %d to %d", f.Method, name, low, high)
	}
	return int64(v), nil
}

// Str returns string i of params.
func (f *Frame) Str(i int, name string) (string, error) {
	if i >= f.nargs {
		return "", Errorf(BadParams, "%s: params lacks %s, its number %d", f.Method, name, i)
	}
	b := f.args[i]
	if !isStr(b[0]) {
		return "", Errorf(BadParams, "%s: %s is not a string", f.Method, name)
	}
	t, _ := readToken(b)
	return string(b[t.head:]), nil
}

// Bin returns the bytes of bin i of params, nil for nil or if params is shorter. They
// belong to the frame.
func (f *Frame) Bin(i int, name string) ([]byte, error) {
	if i >= f.nargs || f.args[i][0] == 0xc0 {
		return nil, nil
	}
	b := f.args[i]
	if b[0] < 0xc4 || b[0] > 0xc6 {
		return nil, Errorf(BadParams, "%s: %s is not a bin", f.Method, name)
	}
	t, _ := readToken(b)
	return b[t.head:], nil
}

// Options decodes map i of params into the struct that into points to, whose fields keep
// their values where the map has no entry. No map at all, or nil, is an empty one. A name
// that the struct lacks is refused.
func (f *Frame) Options(i int, into any) error {
	if i >= f.nargs || f.args[i][0] == 0xc0 {
		return nil
	}
	b := f.args[i]
	if b[0]>>4 != 8 && b[0] != 0xde && b[0] != 0xdf {
		return Errorf(BadParams, "%s: the options, number %d of params, are not a map", f.Method, i)
	}
	d := msgpack.GetDecoder()
	defer msgpack.PutDecoder(d)
	d.Reset(bytes.NewReader(b))
	d.DisallowUnknownFields(true)
	if err := d.Decode(into); err != nil {
		return Errorf(BadParams, "%s: options: %s", f.Method, trimDecoder(err))
	}
	return nil
}

// Most refuses params of more than n elements.
func (f *Frame) Most(n int) error {
	if f.nargs > n {
		return Errorf(BadParams, "%s: %d params, %d are the most", f.Method, f.nargs, n)
	}
	return nil
}

func isStr(c byte) bool   { return c>>5 == 5 || c >= 0xd9 && c <= 0xdb }
func isArray(c byte) bool { return c>>4 == 9 || c == 0xdc || c == 0xdd }

// readUint reads the integer at the start of b, which has arrived whole and is not
// negative.
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

// Drop gives up the frame's memory and returns how much of it Reader.Grow was asked for.
func (f *Frame) Drop() int {
	n := max(0, cap(f.buf)-firstRead)
	f.buf = nil
	return n
}
