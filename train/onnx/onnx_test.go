package onnx

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"

	"blockyard/agents/mlp"
)

func random(t testing.TB, sizes ...int) *mlp.Net {
	r := rand.New(rand.NewPCG(1, 2))
	var layers []mlp.Layer
	for i, out := range sizes[1:] {
		l := mlp.Layer{In: sizes[i], Out: out, W: make([]float32, sizes[i]*out), B: make([]float32, out)}
		for _, x := range [][]float32{l.W, l.B} {
			for k := range x {
				x[k] = float32(r.NormFloat64())
			}
		}
		layers = append(layers, l)
	}
	n, err := mlp.New(layers)
	require.NoError(t, err)
	return n
}

var about = mlp.Facts{Game: "toy", Rules: 3, Features: []string{"a", "b", "c"}, Notes: map[string]string{"seed": "1"}}

// What Write writes, Read reads: the same weights, bit for bit, and the same facts.
func TestRoundTrip(t *testing.T) {
	for _, sizes := range [][]int{{3, 1}, {3, 8, 2}, {3, 5, 4, 1}} {
		n := random(t, sizes...)
		file, err := Write(n, about)
		require.NoError(t, err)
		again, err := Write(n, about)
		require.NoError(t, err)
		require.Equal(t, file, again)
		back, facts, err := Read(file)
		require.NoError(t, err)
		require.Equal(t, n.Layers(), back.Layers())
		require.Equal(t, about, facts)
	}
}

// edited is a model whose graph went through change.
func edited(t *testing.T, change func([]field) []byte) []byte {
	file, err := Write(random(t, 3, 4, 1), about)
	require.NoError(t, err)
	all, err := fields(file)
	require.NoError(t, err)
	var m message
	for _, f := range all {
		switch f.number {
		case modelGraph:
			inner, err := fields(f.bytes)
			require.NoError(t, err)
			m.bytes(modelGraph, change(inner))
		case modelFormat:
			m.integer(f.number, int(f.n))
		default:
			m.bytes(f.number, f.bytes)
		}
	}
	return m
}

// replaced is a graph in which a text stands for another one in fields with this number.
func replaced(number protowire.Number, from, to string) func([]field) []byte {
	return func(all []field) []byte {
		var g message
		for _, f := range all {
			if f.number == number {
				f.bytes = bytes.ReplaceAll(f.bytes, []byte(from), []byte(to))
			}
			g.bytes(f.number, f.bytes)
		}
		return g
	}
}

// torn is a graph whose last node has another input than the result of the one before.
func torn(all []field) []byte {
	last := 0
	for i, f := range all {
		if f.number == graphNode {
			last = i
		}
	}
	all[last].bytes = bytes.ReplaceAll(all[last].bytes, []byte("fc0.leaky"), []byte("fc0.other"))
	return replaced(0, "", "")(all)
}

// Another program's names are as good; what is not a net is refused by name.
func TestOtherModels(t *testing.T) {
	names := replaced(graphNode, "fc0.out", "onnx::x")
	_, _, err := Read(edited(t, names))
	require.NoError(t, err)
	for want, change := range map[string]func([]field) []byte{
		"operation 1 is \"LeakySelu\", want LeakyRelu":                    replaced(graphNode, "LeakyRelu", "LeakySelu"),
		"operation 0 is Gemm with transB=0, want 1":                       replaced(graphNode, "transB", "transX"),
		"operation 1 is LeakyRelu with alpha 0.30000001192092896":         replaced(graphNode, "\x0a\xd7\x23\x3c", "\x9a\x99\x99\x3e"),
		"operation 2 does not work on the result of the one before":       torn,
		"operation 0 has weights of shape [] and biases of shape [4]":     replaced(graphInitializer, "fc0.weight", "fc0.weighs"),
		"tensor \"fc0.weight\" has data type 2, want 1":                   replaced(graphInitializer, "\x10\x01\x42\x0afc0", "\x10\x02\x42\x0afc0"),
		"tensor \"fc0.weight\" has 48 bytes, want 60 for its shape [5 3]": replaced(graphInitializer, "\x08\x04\x08\x03", "\x08\x05\x08\x03"),
		"want Gemm, torch.nn.Linear, as the last operation":               func([]field) []byte { return nil },
		"the file is damaged, or is not an ONNX model":                    func([]field) []byte { return []byte{0xff} },
	} {
		_, _, err := Read(edited(t, change))
		require.ErrorContains(t, err, want)
	}
	f := about
	f.Features = []string{"a", "b"}
	file, err := Write(random(t, 3, 1), f)
	require.NoError(t, err)
	_, _, err = Read(file)
	require.ErrorContains(t, err, "2 feature names for 3 inputs")
	_, _, err = Read(nil)
	require.ErrorIs(t, err, errDamaged)
}

// Read ends with a net or an error, and takes memory in proportion to the file.
func FuzzRead(f *testing.F) {
	for _, sizes := range [][]int{{3, 1}, {3, 4, 2}} {
		file, err := Write(random(f, sizes...), about)
		require.NoError(f, err)
		f.Add(file)
		f.Add(file[:len(file)/2])
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		n, facts, err := Read(file)
		if err == nil {
			again, err := Write(n, facts)
			require.NoError(t, err)
			_, _, err = Read(again)
			require.NoError(t, err, fmt.Sprint(facts))
		}
	})
}
