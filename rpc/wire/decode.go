package wire

import (
	"bufio"
	"fmt"

	"github.com/vmihailenco/msgpack/v5"
)

// ReadResponse reads one response from r, for clients, and decodes its result into the value that into
// points to; nil skips the result. failure is the server's error, if it sent one. The size of a response
// is not limited: a client trusts its server.
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
		return 0, nil, fmt.Errorf("received an array of %d elements that begins with %d, want a response (4 and 1)", n, kind)
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
