package wire

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/vmihailenco/msgpack/v5"
)

// HeadLen is the length of the head of a response with a slab.
const HeadLen = 13

// StepHeadLen is the length of a step request before its actions, as AppendStep writes it.
const StepHeadLen = 23

// aside is the length from which a bin is sent from its own memory instead of being copied.
const aside = 4096

// PutHead writes the head of a successful response with a slab of n bytes to dst[:HeadLen].
func PutHead(dst []byte, id uint32, n int) {
	_ = dst[HeadLen-1]
	dst[0], dst[1], dst[2] = 0x94, Response, 0xce
	binary.BigEndian.PutUint32(dst[3:], id)
	dst[7], dst[8] = 0xc0, 0xc6
	binary.BigEndian.PutUint32(dst[9:], uint32(n))
}

// DoneLen is the length of a response that is true.
const DoneLen = 9

// PutDone appends the successful response true.
func PutDone(dst []byte, id uint32) []byte {
	return append(appendHead(dst, 0x94, Response, id), 0xc0, 0xc3)
}

// ReadHead reads what PutHead wrote. It returns the length of the slab and whether b is such a head with
// this id.
func ReadHead(b []byte, id uint32) (n int, ok bool) {
	ok = len(b) >= HeadLen && b[0] == 0x94 && b[1] == Response && b[2] == 0xce && binary.BigEndian.Uint32(b[3:]) == id && b[7] == 0xc0 && b[8] == 0xc6
	if !ok {
		return 0, false
	}
	return int(binary.BigEndian.Uint32(b[9:])), true
}

// AppendStep appends a step request for handle h; actions are little-endian uint16s.
func AppendStep(dst []byte, id, h uint32, actions []byte) []byte {
	dst = appendHead(dst, 0x94, Request, id)
	dst = append(dst, 0xa4, 's', 't', 'e', 'p', 0x92, 0xce)
	dst = binary.BigEndian.AppendUint32(dst, h)
	return append(AppendBinHead(dst, len(actions)), actions...)
}

// AppendStepSlot appends a step request for handle h whose actions are in a slot.
func AppendStepSlot(dst []byte, id, h, slot uint32) []byte {
	dst = append(appendHead(dst, 0x94, Request, id), 0xa9)
	dst = append(append(dst, "step_slot"...), 0x92, 0xce)
	dst = append(binary.BigEndian.AppendUint32(dst, h), 0xce)
	return binary.BigEndian.AppendUint32(dst, slot)
}

// AppendBinHead appends the head of a bin of n bytes.
func AppendBinHead(dst []byte, n int) []byte {
	return binary.BigEndian.AppendUint32(append(dst, 0xc6), uint32(n))
}

func appendHead(dst []byte, array, kind byte, id uint32) []byte {
	return binary.BigEndian.AppendUint32(append(dst, array, kind, 0xce), id)
}

// A Field is one entry of Fields.
type Field struct {
	Name  string
	Value any
}

// Fields is a result that is a map with its entries in this order. A []byte becomes a bin; a long one is
// not copied.
type Fields []Field

// AppendRequest appends a request with the params that the msgpack library encodes.
func AppendRequest(dst []byte, id uint32, method string, params ...any) ([]byte, error) {
	var out encoder
	out.tail = appendHead(dst, 0x94, Request, id)
	if params == nil {
		params = []any{}
	}
	if err := out.plain(method); err != nil {
		return nil, err
	}
	if err := out.plain(params); err != nil {
		return nil, err
	}
	return out.tail, nil
}

// Result returns the bytes of a successful response as pieces to be sent one after the other.
func Result(id uint32, result any) ([][]byte, error) {
	out := encoder{tail: append(appendHead(nil, 0x94, Response, id), 0xc0)}
	fields, ok := result.(Fields)
	if !ok {
		err := out.plain(result)
		return out.flush(), err
	}
	if len(fields) > 15 {
		return nil, fmt.Errorf("a result of %d fields", len(fields))
	}
	out.tail = append(out.tail, 0x80|byte(len(fields)))
	for _, f := range fields {
		if err := out.plain(f.Name); err != nil {
			return nil, err
		}
		b, ok := f.Value.([]byte)
		if !ok {
			if err := out.plain(f.Value); err != nil {
				return nil, fmt.Errorf("field %s: %w", f.Name, err)
			}
			continue
		}
		out.bin(b)
	}
	return out.flush(), nil
}

// Failure returns the bytes of a response with an error.
func Failure(id uint32, e *Error) ([]byte, error) {
	out := encoder{tail: appendHead(nil, 0x94, Response, id)}
	if e.Data == nil {
		e.Data = map[string]any{}
	}
	if err := out.plain(e); err != nil {
		return nil, err
	}
	return append(out.tail, 0xc0), nil
}

// An encoder builds a message in pieces.
type encoder struct {
	done [][]byte
	tail []byte
}

func (out *encoder) bin(b []byte) {
	out.tail = AppendBinHead(out.tail, len(b))
	if len(b) < aside {
		out.tail = append(out.tail, b...)
		return
	}
	out.done = append(out.done, out.tail, b)
	out.tail = nil
}

func (out *encoder) plain(v any) error {
	buf := bytes.NewBuffer(out.tail)
	e := msgpack.GetEncoder()
	defer msgpack.PutEncoder(e)
	e.Reset(buf)
	e.SetSortMapKeys(true)
	e.UseCompactInts(true)
	if err := e.Encode(v); err != nil {
		return err
	}
	out.tail = buf.Bytes()
	return nil
}

func (out *encoder) flush() [][]byte {
	if len(out.tail) > 0 {
		out.done = append(out.done, out.tail)
	}
	return out.done
}
