package host

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"
)

// A frame is a byte for its kind, the length of its body in 16 bits, and the body. Numbers are
// little-endian.
//
//	to the child    'o' options          open a solver
//	                'u' a call           fresh, 8 numbers, the cells
//	                'c'                  close the solver
//	from the child  'r' code, text       bits or 0, or a failure and its reason
//	                'x' text             the library cannot be loaded; the child ends
//
// A child also sends 'r' when it has loaded the library.
const (
	opOpen   = 'o'
	opUpdate = 'u'
	opClose  = 'c'
	opAnswer = 'r'
	opFailed = 'x'

	frameHead = 3
	maxFrame  = 1<<16 - 1
	callSize  = 1 + 8*4 + cells
)

// writeFrame writes a frame in one piece.
func writeFrame(w io.Writer, buf []byte, op byte, body []byte) ([]byte, error) {
	if len(body) > maxFrame {
		return buf, fmt.Errorf("frame of %d bytes, want at most %d", len(body), maxFrame)
	}
	buf = append(buf[:0], op, byte(len(body)), byte(len(body)>>8))
	buf = append(buf, body...)
	_, err := w.Write(buf)
	return buf, err
}

// readFrame reads a frame. body is valid until buf is used again.
func readFrame(r io.Reader, buf []byte) (op byte, body []byte, err error) {
	head := buf[:frameHead]
	if _, err := io.ReadFull(r, head); err != nil {
		return 0, nil, err
	}
	op = head[0]
	body = buf[:binary.LittleEndian.Uint16(head[1:])]
	if _, err := io.ReadFull(r, body); err != nil {
		return 0, nil, io.ErrUnexpectedEOF
	}
	return op, body, nil
}

// frameBuffer returns a buffer for the largest frame.
func frameBuffer() []byte { return make([]byte, maxFrame) }

// append appends the call as a frame's body.
func (c *call) append(dst []byte) []byte {
	fresh := byte(0)
	if c.fresh {
		fresh = 1
	}
	dst = append(dst, fresh)
	for _, b := range []*block{&c.current, &c.next} {
		for _, v := range [4]int32{b.kind, b.rot, b.x, b.row} {
			dst = binary.LittleEndian.AppendUint32(dst, uint32(v))
		}
	}
	return append(dst, c.cells[:]...)
}

// parse reads a frame's body.
func (c *call) parse(body []byte) error {
	if len(body) != callSize {
		return fmt.Errorf("call of %d bytes, want %d", len(body), callSize)
	}
	c.fresh = body[0] != 0
	body = body[1:]
	for _, b := range []*block{&c.current, &c.next} {
		b.size = blockSize
		for _, v := range []*int32{&b.kind, &b.rot, &b.x, &b.row} {
			*v = int32(binary.LittleEndian.Uint32(body))
			body = body[4:]
		}
	}
	copy(c.cells[:], body)
	return nil
}

// parseAnswer reads the body of an answer.
func parseAnswer(body []byte) (code int32, text string, err error) {
	if len(body) < 4 {
		return 0, "", errors.New("answer cut short")
	}
	return int32(binary.LittleEndian.Uint32(body)), printable(body[4:]), nil
}

// printable returns a library's text as one line without control characters.
func printable(text []byte) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(strings.TrimRight(string(text), "\x00"), "?"))
}
