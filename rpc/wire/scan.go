package wire

import "encoding/binary"

// Bounds on a message that no method may exceed.
const (
	MaxArgs   = 8    // params
	MaxMethod = 32   // bytes of a method's name
	MaxDepth  = 16   // nested containers
	MaxNodes  = 4096 // values, including containers
)

// A scanner walks one MessagePack value as its bytes arrive, without recursion or allocation. It fails as
// soon as a claimed size exceeds what may still arrive, such as a container with more elements than
// bytes or a string longer than the rest.
type scanner struct {
	pos   int // length of the tokens read so far
	nodes int
	depth int
	left  [MaxDepth]uint64 // values missing in each open container
	many  bool             // of a response, which may have more than MaxNodes values
}

// next continues in b, which is the message from its first byte as far as it has arrived. It returns done
// when the value is complete, at b[:s.pos], and otherwise the shortest length of b with which it can
// continue. limit is the largest length of the message. An error is an *Error and ends the scan.
func (s *scanner) next(b []byte, limit int) (done bool, need int, err error) {
	for {
		t, ok := readToken(b[s.pos:])
		switch {
		case !ok && s.pos+t.head > limit:
			return false, 0, tooLarge(uint64(s.pos+t.head), limit)
		case !ok:
			return false, s.pos + t.head, nil
		case t.head == 0:
			return false, 0, badFrame("byte 0x%02x begins no supported value: extension types are refused", b[s.pos])
		}
		end := uint64(s.pos + t.head)
		if t.count+t.payload+end > uint64(limit) {
			return false, 0, tooLarge(t.count+t.payload+end, limit)
		}
		if end += t.payload; end > uint64(len(b)) {
			return false, int(end), nil
		}
		if s.nodes++; s.nodes > MaxNodes && !s.many {
			return false, 0, badFrame("more than %d values, want at most that many in one message", MaxNodes)
		}
		s.pos = int(end)
		if t.count > 0 {
			if s.depth == MaxDepth {
				return false, 0, badFrame("more than %d nested containers, want at most that many", MaxDepth)
			}
			s.left[s.depth] = t.count
			s.depth++
		} else if s.finish() {
			return true, 0, nil
		}
	}
}

// finish counts a complete value in its containers and reports whether the outermost is complete too.
func (s *scanner) finish() bool {
	for s.depth > 0 {
		s.left[s.depth-1]--
		if s.left[s.depth-1] > 0 {
			return false
		}
		s.depth--
	}
	return true
}

// skip returns the length of the value at the start of b, which a scanner has accepted.
func skip(b []byte) int {
	pos := 0
	for left := uint64(1); left > 0; left-- {
		t, _ := readToken(b[pos:])
		pos += t.head + int(t.payload)
		left += t.count
	}
	return pos
}

// A token is the head of one value.
type token struct {
	head    int    // its length; 0 for an unsupported value
	count   uint64 // values that follow inside it
	payload uint64 // bytes that follow
}

// readToken reads the head of the value at the start of b. If it is incomplete, ok is false and head its full length.
func readToken(b []byte) (t token, ok bool) {
	if len(b) == 0 {
		return token{head: 1}, false
	}
	c := b[0]
	switch {
	case c < 0x80 || c >= 0xe0: // small integers
		return token{head: 1}, true
	case c < 0x90:
		return token{head: 1, count: 2 * uint64(c&15)}, true
	case c < 0xa0:
		return token{head: 1, count: uint64(c & 15)}, true
	case c < 0xc0:
		return token{head: 1, payload: uint64(c & 31)}, true
	}
	k := kinds[c-0xc0]
	if len(b) < int(k.head) {
		return token{head: int(k.head)}, false
	}
	var n uint64
	switch k.head {
	case 0:
		return token{}, true
	case 1:
		return token{head: 1, payload: uint64(k.payload)}, true
	case 2:
		n = uint64(b[1])
	case 3:
		n = uint64(binary.BigEndian.Uint16(b[1:]))
	case 5:
		n = uint64(binary.BigEndian.Uint32(b[1:]))
	}
	if k.per == 0 {
		return token{head: int(k.head), payload: n}, true
	}
	return token{head: int(k.head), count: n * uint64(k.per)}, true
}

// kinds describes the values whose first byte is 0xc0 to 0xdf: the length of the head (0 for unused and extension
// types), the number of bytes after it if that is fixed, and the number of values per element of a container.
var kinds = [32]struct{ head, payload, per uint8 }{
	0x00: {head: 1}, 0x02: {head: 1}, 0x03: {head: 1}, // nil, false, true
	0x04: {head: 2}, 0x05: {head: 3}, 0x06: {head: 5}, // bin
	0x0a: {1, 4, 0}, 0x0b: {1, 8, 0}, // float
	0x0c: {1, 1, 0}, 0x0d: {1, 2, 0}, 0x0e: {1, 4, 0}, 0x0f: {1, 8, 0}, // uint
	0x10: {1, 1, 0}, 0x11: {1, 2, 0}, 0x12: {1, 4, 0}, 0x13: {1, 8, 0}, // int
	0x19: {head: 2}, 0x1a: {head: 3}, 0x1b: {head: 5}, // str
	0x1c: {3, 0, 1}, 0x1d: {5, 0, 1}, // array
	0x1e: {3, 0, 2}, 0x1f: {5, 0, 2}, // map
}
