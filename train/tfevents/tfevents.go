// Package tfevents writes and reads the event files that TensorBoard shows: scalars over
// steps.
//
// A file is a row of records, each framed as TFRecord: the length (8 bytes, little
// endian), its masked checksum (4), the bytes, their masked checksum (4). A record is an
// Event message of protocol buffers: wall_time = 1 (double), step = 2 (int64), then
// file_version = 3 (string) in the first record and summary = 5 in the others, whose
// values = 1 have a tag = 1 (string) and a simple_value = 2 (float).
package tfevents

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"os"
	"path/filepath"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
)

// A Scalar is one point of one curve.
type Scalar struct {
	Tag   string
	Value float32
}

// An Event is what one record of a file says. The first has a Version and no Scalars.
type Event struct {
	Time    time.Time
	Step    int64
	Version string
	Scalars []Scalar
}

// A Writer appends events to a file.
type Writer struct {
	f *os.File
}

// Create starts a new event file in folder dir. TensorBoard reads all event files of a
// folder as one run.
func Create(dir string, now time.Time) (*Writer, error) {
	for i := 0; ; i++ {
		name := fmt.Sprintf("events.out.tfevents.%010d.%d.%d.train", now.Unix(), os.Getpid(), i)
		f, err := os.OpenFile(filepath.Join(dir, name), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
		if errors.Is(err, os.ErrExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		w := &Writer{f: f}
		if err := w.Write(Event{Time: now, Version: "brain.Event:2"}); err != nil {
			return nil, errors.Join(err, f.Close())
		}
		return w, nil
	}
}

// Write appends an event; it is in the file when Write returns.
func (w *Writer) Write(e Event) error {
	_, err := w.f.Write(frame(encode(e)))
	return err
}

// Close closes the file.
func (w *Writer) Close() error { return w.f.Close() }

func encode(e Event) []byte {
	seconds := float64(e.Time.UnixNano()) / 1e9
	b := protowire.AppendTag(nil, 1, protowire.Fixed64Type)
	b = protowire.AppendFixed64(b, math.Float64bits(seconds))
	b = protowire.AppendTag(b, 2, protowire.VarintType)
	b = protowire.AppendVarint(b, uint64(e.Step))
	if e.Version != "" {
		b = protowire.AppendTag(b, 3, protowire.BytesType)
		return protowire.AppendString(b, e.Version)
	}
	var summary []byte
	for _, s := range e.Scalars {
		v := protowire.AppendTag(nil, 1, protowire.BytesType)
		v = protowire.AppendString(v, s.Tag)
		v = protowire.AppendTag(v, 2, protowire.Fixed32Type)
		v = protowire.AppendFixed32(v, math.Float32bits(s.Value))
		summary = protowire.AppendTag(summary, 1, protowire.BytesType)
		summary = protowire.AppendBytes(summary, v)
	}
	b = protowire.AppendTag(b, 5, protowire.BytesType)
	return protowire.AppendBytes(b, summary)
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// masked is the checksum of a TFRecord: CRC-32C, turned and shifted, so that a checksum
// of data with checksums in it stays a good one.
func masked(b []byte) uint32 {
	c := crc32.Checksum(b, castagnoli)
	return (c>>15 | c<<17) + 0xa282ead8
}

func frame(data []byte) []byte {
	b := binary.LittleEndian.AppendUint64(nil, uint64(len(data)))
	b = binary.LittleEndian.AppendUint32(b, masked(b))
	b = append(b, data...)
	return binary.LittleEndian.AppendUint32(b, masked(data))
}

// maxRecord bounds what is read as one record.
const maxRecord = 1 << 20

// Read reads one event. It returns io.EOF at the end of the file.
func Read(r io.Reader) (Event, error) {
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
