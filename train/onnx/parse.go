package onnx

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"google.golang.org/protobuf/encoding/protowire"

	"blockyard/agents/mlp"
)

// A field is one field of a message: a number, or bytes.
type field struct {
	number protowire.Number
	n      uint64 // of varints and of fixed 32 and 64 bits
	bytes  []byte
}

var errDamaged = errors.New("onnx: the file is damaged, or is not an ONNX model")

// fields returns the fields of a message, in the order of the file. The bytes are those of m.
func fields(m []byte) (all []field, err error) {
	for len(m) > 0 {
		number, kind, n := protowire.ConsumeTag(m)
		if n < 0 {
			return nil, errDamaged
		}
		m = m[n:]
		f := field{number: number}
		switch kind {
		case protowire.VarintType:
			f.n, n = protowire.ConsumeVarint(m)
		case protowire.Fixed32Type:
			var x uint32
			x, n = protowire.ConsumeFixed32(m)
			f.n = uint64(x)
		case protowire.Fixed64Type:
			f.n, n = protowire.ConsumeFixed64(m)
		case protowire.BytesType:
			f.bytes, n = protowire.ConsumeBytes(m)
		default:
			n = -1
		}
		if n < 0 {
			return nil, errDamaged
		}
		m = m[n:]
		all = append(all, f)
	}
	return all, nil
}

// An operation is a node of the graph.
type operation struct {
	name            string
	inputs, outputs []string
	numbers         map[string]float64 // attributes
}

func parseNode(m []byte) (o operation, err error) {
	all, err := fields(m)
	o.numbers = map[string]float64{}
	for _, f := range all {
		switch f.number {
		case nodeInput:
			o.inputs = append(o.inputs, string(f.bytes))
		case nodeOutput:
			o.outputs = append(o.outputs, string(f.bytes))
		case nodeOperation:
			o.name = string(f.bytes)
		case nodeAttribute:
			attributes, bad := fields(f.bytes)
			err = errors.Join(err, bad)
			name, x := "", 0.0
			for _, a := range attributes {
				switch a.number {
				case attributeName:
					name = string(a.bytes)
				case attributeFloat:
					x = float64(math.Float32frombits(uint32(a.n)))
				case attributeInt:
					x = float64(int64(a.n))
				}
			}
			o.numbers[name] = x
		}
	}
	return o, err
}

// number returns an attribute, or what ONNX says it is without one.
func (o *operation) number(name string, byDefault float64) float64 {
	if x, ok := o.numbers[name]; ok {
		return x
	}
	return byDefault
}

func parseTensor(m []byte) (t mlp.Tensor, err error) {
	all, err := fields(m)
	if err != nil {
		return t, err
	}
	var raw []byte
	kind, size := 0, 1
	dim := func(n uint64) {
		if n < 1 || n > 1<<20 || size > 1<<30/int(n) {
			err = errDamaged
			n = 1
		}
		t.Shape, size = append(t.Shape, int(n)), size*int(n)
	}
	for _, f := range all {
		switch f.number {
		case tensorDims:
			if f.bytes == nil {
				dim(f.n)
				continue
			}
			for b := f.bytes; len(b) > 0; {
				x, n := protowire.ConsumeVarint(b)
				if n < 0 {
					return t, errDamaged
				}
				dim(x)
				b = b[n:]
			}
		case tensorType:
			kind = int(f.n)
		case tensorName:
			t.Name = string(f.bytes)
		case tensorRaw:
			raw = f.bytes
		case tensorFloats: // packed; the same bytes as in raw
			raw = append(raw, f.bytes...)
		case tensorLocation:
			if f.n != 0 {
				return t, errors.New("onnx: the weights are in another file: export the model into one file")
			}
		}
	}
	switch {
	case err != nil:
		return t, err
	case kind != float:
		return t, fmt.Errorf("onnx: tensor %.40q has data type %d, want %d, float32", t.Name, kind, float)
	case len(raw) != 4*size:
		return t, fmt.Errorf("onnx: tensor %.40q has %d bytes, want %d for its shape %v", t.Name, len(raw), 4*size, t.Shape)
	}
	for i := range size {
		t.Data = append(t.Data, math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:])))
	}
	return t, nil
}
