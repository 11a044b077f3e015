package mlp

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
)

// Limits of a file, far above what any network needs, so that reading takes little more memory than its length.
const (
	maxHeader  = 1 << 20
	maxFile    = 256 << 20
	maxTensors = 256
)

// A Tensor is a named array of float32 in row-major order.
type Tensor struct {
	Name  string
	Shape []int
	Data  []float32
}

// An entry describes a tensor in the header: its bytes are Offsets[0] to Offsets[1] of the data.
type entry struct {
	Dtype   string `json:"dtype"`
	Shape   []int  `json:"shape"`
	Offsets [2]int `json:"data_offsets"`
}

// WriteTensors writes tensors and metadata in the safetensors format: the length of the header as eight bytes (little
// endian), a JSON header, the data in the given order. The same arguments give the same bytes.
func WriteTensors(w io.Writer, tensors []Tensor, meta map[string]string) error {
	header, at := map[string]any{}, 0
	if len(meta) > 0 {
		header["__metadata__"] = meta
	}
	for _, t := range tensors {
		size, err := sizeOf(t.Shape)
		if err != nil || size != len(t.Data) {
			return fmt.Errorf("safetensors: %s: %d numbers for shape %v", t.Name, len(t.Data), t.Shape)
		}
		if _, twice := header[t.Name]; twice {
			return fmt.Errorf("safetensors: two tensors named %q", t.Name)
		}
		header[t.Name] = entry{"F32", t.Shape, [2]int{at, at + 4*size}}
		at += 4 * size
	}
	text, err := json.Marshal(header)
	if err != nil {
		return fmt.Errorf("safetensors: %w", err)
	}
	for len(text)%8 != 0 { // data aligned to 8 bytes
		text = append(text, ' ')
	}
	if len(text) > maxHeader || at > maxFile {
		return fmt.Errorf("safetensors: %d bytes of header and %d of data are too many", len(text), at)
	}
	out := binary.LittleEndian.AppendUint64(make([]byte, 0, 8+len(text)+at), uint64(len(text)))
	out = append(out, text...)
	for _, t := range tensors {
		for _, v := range t.Data {
			out = binary.LittleEndian.AppendUint32(out, math.Float32bits(v))
		}
	}
	_, err = w.Write(out)
	return err
}

// ParseTensors reads a safetensors file of float32 alone, and refuses any defect. It returns the tensors in the order
// of their data, and the metadata. Memory stays within a small multiple of len(file).
func ParseTensors(file []byte) ([]Tensor, map[string]string, error) {
	bad := func(format string, a ...any) ([]Tensor, map[string]string, error) {
		return nil, nil, fmt.Errorf("safetensors: "+format, a...)
	}
	for start, what := range foreign {
		if bytes.HasPrefix(file, []byte(start)) {
			return bad("this is %s: save the network with blockyard.save_weights in Python, see "+
				"rpc/python/docs/contest.md", what)
		}
	}
	if len(file) < 8 {
		return bad("%d bytes are too short for a header", len(file))
	}
	n := binary.LittleEndian.Uint64(file)
	if n > maxHeader {
		return bad("a header of %d bytes: want at most %d", n, maxHeader)
	}
	if n > uint64(len(file)-8) {
		return bad("the header says %d bytes, the file has %d more: truncated?", n, len(file)-8)
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(file[8:8+n], &fields); err != nil {
		return bad("header: %w", err)
	}
	var meta map[string]string
	if raw, ok := fields["__metadata__"]; ok {
		if err := json.Unmarshal(raw, &meta); err != nil {
			return bad("metadata: %w", err)
		}
		delete(fields, "__metadata__")
	}
	if len(fields) > maxTensors {
		return bad("%d tensors: want at most %d", len(fields), maxTensors)
	}
	entries := map[string]entry{}
	for name, raw := range fields {
		var e entry
		d := json.NewDecoder(bytes.NewReader(raw))
		d.DisallowUnknownFields()
		if err := d.Decode(&e); err != nil {
			return bad("%q: %w", name, err)
		}
		entries[name] = e
	}
	tensors, err := unpack(entries, file[8+n:])
	return tensors, meta, err
}

// foreign are the first bytes of other files; as lengths of a header they would exceed maxHeader.
var foreign = map[string]string{
	"PK\x03\x04":        "a zip archive, such as torch.save (.pt) and numpy.savez (.npz) write",
	"\x80\x02\x8a\x0a":  "a pickle, as old versions of torch.save (.pt) write",
	"\x89HDF\r\n\x1a\n": "an HDF5 file (.h5)",
}

// unpack copies the tensors out of data. They must fill it without a gap or an overlap.
func unpack(entries map[string]entry, data []byte) ([]Tensor, error) {
	names := slices.SortedFunc(maps.Keys(entries), func(m, n string) int {
		a, b := entries[m].Offsets, entries[n].Offsets
		return cmp.Or(slices.Compare(a[:], b[:]), cmp.Compare(m, n))
	})
	var tensors []Tensor
	at := 0
	for _, name := range names {
		e := entries[name]
		size, err := sizeOf(e.Shape)
		switch {
		case err != nil:
			return nil, fmt.Errorf("safetensors: %q: %w", name, err)
		case e.Dtype != "F32":
			return nil, fmt.Errorf("safetensors: %q holds %q: want F32", name, e.Dtype)
		case e.Offsets[0] != at || e.Offsets[1] != at+4*size:
			return nil, fmt.Errorf("safetensors: %q of shape %v lies at %v, not at [%d %d]",
				name, e.Shape, e.Offsets, at, at+4*size)
		case e.Offsets[1] > len(data):
			return nil, fmt.Errorf("safetensors: %q ends at byte %d of the data, the file has %d: truncated?",
				name, e.Offsets[1], len(data))
		}
		t := Tensor{Name: name, Shape: e.Shape, Data: make([]float32, size)}
		for i := range t.Data {
			t.Data[i] = math.Float32frombits(binary.LittleEndian.Uint32(data[at+4*i:]))
		}
		tensors, at = append(tensors, t), e.Offsets[1]
	}
	if at != len(data) {
		return nil, fmt.Errorf("safetensors: %d bytes follow the last tensor", len(data)-at)
	}
	return tensors, nil
}

// sizeOf is the number of elements of a shape, or an error if no file can hold as many.
func sizeOf(shape []int) (int, error) {
	size := 1
	for _, d := range shape {
		if d < 0 || d > maxFile || size*d > maxFile {
			return 0, fmt.Errorf("shape %v is out of range", shape)
		}
		size *= d
	}
	return size, nil
}
