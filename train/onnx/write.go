package onnx

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"

	"blockyard/agents/mlp"
)

// A message is the bytes of a message of protocol buffers.
type message []byte

func (m *message) bytes(field protowire.Number, b []byte) {
	*m = protowire.AppendBytes(protowire.AppendTag(*m, field, protowire.BytesType), b)
}

func (m *message) text(field protowire.Number, s string) { m.bytes(field, []byte(s)) }

func (m *message) integer(field protowire.Number, n int) {
	*m = protowire.AppendVarint(protowire.AppendTag(*m, field, protowire.VarintType), uint64(n))
}

func (m *message) float(field protowire.Number, x float32) {
	*m = protowire.AppendFixed32(protowire.AppendTag(*m, field, protowire.Fixed32Type), math.Float32bits(x))
}

// Write returns a network as a model. The same arguments give the same bytes.
func Write(n *mlp.Net, f mlp.Facts) ([]byte, error) {
	names, err := json.Marshal(f.Features)
	if err != nil {
		return nil, err
	}
	var set, m message
	set.text(opsetDomain, "")
	set.integer(opsetVersion, opset)
	m.integer(modelFormat, format)
	m.text(modelProducer, "blockyard")
	m.bytes(modelGraph, graph(n, f.Game))
	m.bytes(modelOpset, set)
	meta := map[string]string{}
	maps.Copy(meta, f.Notes)
	meta["game"], meta["rules"], meta["features"] = f.Game, strconv.Itoa(f.Rules), string(names)
	meta["activation"] = mlp.Activation
	for _, key := range slices.Sorted(maps.Keys(meta)) {
		var e message
		e.text(entryKey, key)
		e.text(entryValue, meta[key])
		m.bytes(modelMetadata, e)
	}
	return m, nil
}

func graph(n *mlp.Net, name string) []byte {
	var g message
	last, layers := "features", n.Layers()
	for i := range layers {
		fc := fmt.Sprintf("fc%d", i)
		out := fc + ".out"
		if i == len(layers)-1 {
			out = "values"
		}
		var transposed, alpha message
		transposed.text(attributeName, "transB")
		transposed.integer(attributeInt, 1)
		transposed.integer(attributeType, attributeIsInteger)
		g.bytes(graphNode, node(fc, "Gemm", []string{last, fc + ".weight", fc + ".bias"}, out, transposed))
		if last = out; i < len(layers)-1 {
			alpha.text(attributeName, "alpha")
			alpha.float(attributeFloat, slope)
			alpha.integer(attributeType, attributeIsFloat)
			last = fc + ".leaky"
			g.bytes(graphNode, node(last, "LeakyRelu", []string{out}, last, alpha))
		}
	}
	g.text(graphName, name)
	for _, t := range n.Tensors() {
		g.bytes(graphInitializer, tensor(t))
	}
	g.bytes(graphInput, value("features", n.In()))
	g.bytes(graphOutput, value("values", n.Out()))
	return g
}

func node(name, operation string, inputs []string, output string, attribute []byte) []byte {
	var m message
	for _, in := range inputs {
		m.text(nodeInput, in)
	}
	m.text(nodeOutput, output)
	m.text(nodeName, name)
	m.text(nodeOperation, operation)
	m.bytes(nodeAttribute, attribute)
	return m
}

func tensor(t mlp.Tensor) []byte {
	var m message
	for _, n := range t.Shape {
		m.integer(tensorDims, n)
	}
	m.integer(tensorType, float)
	m.text(tensorName, t.Name)
	raw := make([]byte, 0, 4*len(t.Data))
	for _, x := range t.Data {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(x))
	}
	m.bytes(tensorRaw, raw)
	return m
}

// value describes an input or output of float32 [rows, wide].
func value(name string, wide int) []byte {
	var rows, columns, shape, kind, whole, m message
	rows.text(dimName, "rows")
	columns.integer(dimValue, wide)
	shape.bytes(shapeDim, rows)
	shape.bytes(shapeDim, columns)
	kind.integer(tensorElement, float)
	kind.bytes(tensorShape, shape)
	whole.bytes(typeTensor, kind)
	m.text(valueName, name)
	m.bytes(valueType, whole)
	return m
}
