// Package curves writes the event files that TensorBoard shows: scalars over steps.
//
// A file is a sequence of records, each framed as TFRecord: the length (8 bytes, little endian), its masked checksum
// (4), the bytes, their masked checksum (4). A record is an Event message of protocol buffers: wall_time = 1 (double),
// step = 2 (int64), then file_version = 3 (string) in the first record and summary = 5 in the others, whose values = 1
// have a tag = 1 (string) and a simple_value = 2 (float).
package curves

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"os"
	"path/filepath"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
)

// A Scalar is one point of the curve with the name Tag.
type Scalar struct {
	Tag   string
	Value float32
}

// An Event is one record of a file. The first has a Version and no Scalars.
type Event struct {
	Time    time.Time
	Step    int64
	Version string
	Scalars []Scalar
}

// A Writer appends events to one file. It is not safe for concurrent use.
type Writer struct{ f *os.File }

// Create starts a new event file in folder dir. TensorBoard reads all event files of a folder as one run.
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

// Close closes the file, which has every event already.
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
