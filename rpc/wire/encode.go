package wire

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"

	"github.com/vmihailenco/msgpack/v5"
)

// Lengths in bytes.
const (
	HeadLen     = 13   // of the head of a response with a slab
	StepHeadLen = 23   // of a step request before its actions, with numbers of four bytes
	DoneLen     = 9    // of a response that is true
	aside       = 4096 // from which a bin is sent from its own memory instead of being copied
)

// SendLen is the most memory that a Frame needs for a request that steps so many games with so many rows.
func SendLen(games, rows int) int { return firstRead + 4*games + 2*rows }

// PutHead writes the head of a successful response with a slab of n bytes to dst[:HeadLen].
func PutHead(dst []byte, id uint32, n int) {
	appendBinHead(append(appendHead(dst[:0], 0x94, Response, id), 0xc0), n)
}

// AppendDone appends the successful response true.
func AppendDone(dst []byte, id uint32) []byte {
	return append(appendHead(dst, 0x94, Response, id), 0xc0, 0xc3)
}

// AppendReceived appends a successful response to recv up to its slab of n bytes; n < 0 leaves the slab out.
func AppendReceived(dst []byte, id uint32, envs []byte, n int) []byte {
	fields := byte(2)
	if n < 0 {
		fields = 1
	}
	dst = append(appendHead(dst, 0x94, Response, id), 0xc0, 0x80|fields, 0xa4, 'e', 'n', 'v', 's')
	dst = append(appendBinHead(dst, len(envs)), envs...)
	if n >= 0 {
		dst = appendBinHead(append(dst, 0xa4, 's', 'l', 'a', 'b'), n)
	}
	return dst
}

// AppendStepSlot appends a step request for handle h whose actions are in a slot.
func AppendStepSlot(dst []byte, id, h, slot uint32) []byte {
	dst = append(appendHead(dst, 0x94, Request, id), 0xa9)
	dst = append(append(dst, "step_slot"...), 0x92, 0xce)
	dst = append(binary.BigEndian.AppendUint32(dst, h), 0xce)
	return binary.BigEndian.AppendUint32(dst, slot)
}

func appendBinHead(dst []byte, n int) []byte {
	return binary.BigEndian.AppendUint32(append(dst, 0xc6), uint32(n))
}

func appendHead(dst []byte, array, kind byte, id uint32) []byte {
	return binary.BigEndian.AppendUint32(append(dst, array, kind, 0xce), id)
}

// Fields is a result that is a map: names and values in turn, in the order of the map. A []byte becomes
// a bin; a long one is not copied.
type Fields []any

// AppendRequest appends a request with the params that the msgpack library encodes.
func AppendRequest(dst []byte, id uint32, method string, params ...any) ([]byte, error) {
	out := encoder{tail: appendHead(dst, 0x94, Request, id)}
	out.plain(method)
	out.plain(append([]any{}, params...)) // none are an empty array
	return out.tail, out.err
}

// Result returns the bytes of a successful response as pieces to be sent one after the other.
func Result(id uint32, result any) ([][]byte, error) {
	out := encoder{tail: append(appendHead(nil, 0x94, Response, id), 0xc0)}
	if fields, ok := result.(Fields); ok {
		out.fields(fields)
	} else {
		out.plain(result)
	}
	return out.flush()
}

// Notify returns the bytes of the notification method, with the params h, id and result, as pieces to be sent in turn.
func Notify(method string, h, id uint32, result Fields) ([][]byte, error) {
	out := encoder{tail: []byte{0x93, Notification}}
	out.plain(method)
	out.tail = append(out.tail, 0x93)
	out.plain(h)
	out.plain(id)
	out.fields(result)
	return out.flush()
}

// fields appends a map.
func (out *encoder) fields(fields Fields) {
	if len(fields)%2 != 0 {
		out.err = fmt.Errorf("a result of %d names and values, want pairs", len(fields))
	}
	if pairs := len(fields) / 2; pairs < 16 {
		out.tail = append(out.tail, 0x80|byte(pairs)) // fixmap
	} else {
		out.tail = append(out.tail, 0xde, byte(pairs>>8), byte(pairs)) // map 16
	}
	for _, v := range fields {
		if b, ok := v.([]byte); ok {
			out.bin(b)
		} else {
			out.plain(v)
		}
	}
}

// Failure returns the bytes of a response with an error.
func Failure(id uint32, e *Error) ([]byte, error) {
	out := encoder{tail: appendHead(nil, 0x94, Response, id)}
	out.plain(e)
	return append(out.tail, 0xc0), out.err
}

// An encoder builds a message in pieces. It keeps the first error.
type encoder struct {
	done [][]byte
	tail []byte
	err  error
}

func (out *encoder) bin(b []byte) {
	out.tail = appendBinHead(out.tail, len(b))
	if len(b) < aside {
		out.tail = append(out.tail, b...)
		return
	}
	out.done = append(out.done, out.tail, b)
	out.tail = nil
}

func (out *encoder) plain(v any) {
	buf := bytes.NewBuffer(out.tail)
	e := msgpack.GetEncoder()
	defer msgpack.PutEncoder(e)
	e.Reset(buf)
	e.SetSortMapKeys(true)
	e.UseCompactInts(true)
	out.err = cmp.Or(out.err, e.Encode(v))
	out.tail = buf.Bytes()
}

func (out *encoder) flush() ([][]byte, error) {
	if len(out.tail) > 0 {
		out.done = append(out.done, out.tail)
	}
	return out.done, out.err
}

// Error codes. The hundreds digit is the category: 1 protocol, 2 authentication, 3 request,
// 4 environment, 5 capacity, 9 bug in the server.
const (
	BadFrame      = 100
	TooLarge      = 101
	Version       = 102
	AuthRequired  = 200
	AuthFailed    = 201
	UnknownMethod = 300
	BadParams     = 301
	UnknownGame   = 302
	BadHandle     = 303
	Illegal       = 400
	NeedsReset    = 401
	BadState      = 402
	Opponent      = 403
	NeedsAnswer   = 404
	Busy          = 500
	Limit         = 501
	Draining      = 502
	Internal      = 900
)

var names = map[int]string{
	BadFrame: "bad_frame", TooLarge: "too_large", Version: "version",
	AuthRequired: "auth_required", AuthFailed: "auth_failed",
	UnknownMethod: "unknown_method", BadParams: "bad_params", UnknownGame: "unknown_game", BadHandle: "bad_handle",
	Illegal: "illegal_action", NeedsReset: "needs_reset", BadState: "bad_state", Opponent: "opponent_failed",
	NeedsAnswer: "needs_answer",
	Busy:        "busy", Limit: "limit", Draining: "draining", Internal: "internal",
}

// Codes returns the error codes in ascending order.
func Codes() []int { return slices.Sorted(maps.Keys(names)) }

// An Error is the error of a response to a failed request.
type Error struct {
	Code    int            `msgpack:"code"`
	Name    string         `msgpack:"name"`
	Msg     string         `msgpack:"msg"`
	Data    map[string]any `msgpack:"data"`
	RetryMS int            `msgpack:"retry_after_ms,omitempty"`
}

// Error returns the name of the error and its text, as in "bad_params: …".
func (e *Error) Error() string { return fmt.Sprintf("%s: %s", e.Name, e.Msg) }

// Fatal reports whether the server closes the connection after this error.
func (e *Error) Fatal() bool { return e.Code/100 == 1 || e.Code == AuthFailed }

// Errorf returns an Error with a code and a formatted message.
func Errorf(code int, format string, args ...any) *Error {
	return &Error{Code: code, Name: names[code], Msg: fmt.Sprintf(format, args...), Data: map[string]any{}}
}

// With adds an entry to the error's data and returns the error.
func (e *Error) With(key string, value any) *Error {
	e.Data[key] = value
	return e
}

// Recode changes the error's code. The client may try again after retryMS milliseconds; 0 is never.
func (e *Error) Recode(code, retryMS int) *Error {
	e.Code, e.Name, e.RetryMS = code, names[code], retryMS
	return e
}

// Exceeds returns the error for a limit: its name and value, what was asked for, and the server flag
// that raises it, "" if there is none.
func Exceeds(limit string, value, asked int64, raise string) *Error {
	e := Errorf(Limit, "limit %s is %d, asked for %d", limit, value, asked).
		With("limit", limit).With("value", value).With("asked", asked)
	if limit == "max_handles" || limit == "max_memory" {
		e.Msg += "; close environments that are not used any more"
	}
	if raise != "" {
		e.Msg += "; start the server with " + raise + " to raise it"
		e.With("raise", raise)
	}
	return e
}

func badFrame(format string, args ...any) *Error { return Errorf(BadFrame, format, args...) }

func tooLarge(asked uint64, limit int) *Error {
	return Errorf(TooLarge, "a message of at least %d bytes, want at most %d", asked, limit).
		With("limit", "message bytes").With("value", limit).With("asked", asked)
}
