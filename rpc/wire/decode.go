package wire

import (
	"bufio"
	"fmt"

	"github.com/vmihailenco/msgpack/v5"
)

// ReadResponse is the client's end: it reads one response from r and decodes its result
// into the value that into points to, nil for one that is not wanted. The second result
// is what the server answered instead of a result. It trusts the server with the size of
// its answers.
func ReadResponse(r *bufio.Reader, into any) (id uint32, failure *Error, err error) {
	d := msgpack.GetDecoder()
	defer msgpack.PutDecoder(d)
	d.Reset(r)
	n, err := d.DecodeArrayLen()
	if err != nil {
		return 0, nil, err
	}
	kind, err := d.DecodeInt()
	if err != nil {
		return 0, nil, err
	}
	if n != 4 || kind != Response {
		return 0, nil, fmt.Errorf("the server sent an array of %d that begins with %d, not a response", n, kind)
	}
	if id, err = d.DecodeUint32(); err != nil {
		return 0, nil, err
	}
	if err := d.Decode(&failure); err != nil {
		return id, nil, fmt.Errorf("the error of response %d: %w", id, err)
	}
	if into == nil || failure != nil {
		return id, failure, d.Skip()
	}
	if err := d.Decode(into); err != nil {
		return id, nil, fmt.Errorf("the result of response %d: %w", id, err)
	}
	return id, nil, nil
}
