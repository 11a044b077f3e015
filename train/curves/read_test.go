package curves

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
)

// maxRecord bounds what is read as one record.
const maxRecord = 1 << 20

// read reads one event. It returns io.EOF at the end of the file.
func read(r io.Reader) (Event, error) {
	var head [12]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return Event{}, err // io.EOF where nothing was left
	}
	if binary.LittleEndian.Uint32(head[8:]) != masked(head[:8]) {
		return Event{}, errors.New("tfevents: the length's checksum does not fit")
	}
	n := binary.LittleEndian.Uint64(head[:])
	if n > maxRecord {
		return Event{}, fmt.Errorf("tfevents: a record of %d bytes, at most %d are read", n, maxRecord)
	}
	body := make([]byte, n+4)
	if _, err := io.ReadFull(r, body); err != nil {
		return Event{}, fmt.Errorf("tfevents: record cut off: %w", io.ErrUnexpectedEOF)
	}
	data := body[:n]
	if binary.LittleEndian.Uint32(body[n:]) != masked(data) {
		return Event{}, errors.New("tfevents: a record's checksum does not fit")
	}
	return decode(data)
}

// fields calls f for each field of a message.
func fields(b []byte, f func(num protowire.Number, kind protowire.Type, v []byte)) error {
	for len(b) > 0 {
		num, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return fmt.Errorf("tfevents: %w", protowire.ParseError(n))
		}
		b = b[n:]
		if n = protowire.ConsumeFieldValue(num, kind, b); n < 0 {
			return fmt.Errorf("tfevents: %w", protowire.ParseError(n))
		}
		f(num, kind, b[:n])
		b = b[n:]
	}
	return nil
}

func decode(data []byte) (Event, error) {
	var e Event
	var inner error
	err := fields(data, func(num protowire.Number, kind protowire.Type, v []byte) {
		switch {
		case num == 1 && kind == protowire.Fixed64Type:
			x, _ := protowire.ConsumeFixed64(v)
			e.Time = time.Unix(0, int64(math.Float64frombits(x)*1e9))
		case num == 2 && kind == protowire.VarintType:
			x, _ := protowire.ConsumeVarint(v)
			e.Step = int64(x)
		case num == 3 && kind == protowire.BytesType:
			e.Version, _ = protowire.ConsumeString(v)
		case num == 5 && kind == protowire.BytesType:
			x, _ := protowire.ConsumeBytes(v)
			e.Scalars, inner = scalars(x)
		}
	})
	return e, errors.Join(err, inner)
}

func scalars(summary []byte) (all []Scalar, err error) {
	outer := fields(summary, func(_ protowire.Number, kind protowire.Type, v []byte) {
		if kind != protowire.BytesType {
			return
		}
		x, _ := protowire.ConsumeBytes(v)
		var s Scalar
		e := fields(x, func(num protowire.Number, kind protowire.Type, v []byte) {
			switch {
			case num == 1 && kind == protowire.BytesType:
				s.Tag, _ = protowire.ConsumeString(v)
			case num == 2 && kind == protowire.Fixed32Type:
				bits, _ := protowire.ConsumeFixed32(v)
				s.Value = math.Float32frombits(bits)
			}
		})
		err = errors.Join(err, e)
		all = append(all, s)
	})
	return all, errors.Join(err, outer)
}
