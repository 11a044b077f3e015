package mlp

import (
	"bytes"
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/env/envtest"
)

func toyFacts() Facts {
	return Facts{Game: "toy", Rules: 3, Features: []string{"a", "b", "c"}, Notes: map[string]string{"seed": "7"}}
}

// load reads a network from a file.
func load(path string) (*Net, Facts, error) {
	data, err := ReadFile(path)
	if err != nil {
		return nil, Facts{}, err
	}
	return Parse(data)
}

// The file was written by the Python package safetensors 0.8 with numpy 2, and the
// values computed there.
func TestLoadsWhatPythonWrote(t *testing.T) {
	n, f := envtest.Must2(load("testdata/python.safetensors"))
	require.NoError(t, f.Check("toy", 3, []string{"a", "b", "c"}))
	require.Equal(t, "safetensors.numpy", f.Notes["made"])
	out := make([]float32, 3)
	n.Forward([]float32{1, 0, -1, .5, 2, .25, 0, 0, 0}, 3, out)
	require.InDeltaSlice(t, []float32{-3.482142, -5.47802, -2.6929138}, out, 1e-5)
	require.InDeltaSlice(t, []float32{0.42044523, 1.1360465, 0.1097064}, n.Layers()[0].W[3:6], 1e-6)
}

func TestWriteParseIsExact(t *testing.T) {
	path := filepath.Join(t.TempDir(), "net.safetensors")
	n := random(9, 3, 5, 2, 1)
	n.layers[0].W[0] = math.SmallestNonzeroFloat32
	var first, again bytes.Buffer
	require.NoError(t, Write(&first, n, toyFacts()))
	require.NoError(t, os.WriteFile(path, first.Bytes(), 0o600))
	m, f := envtest.Must2(load(path))
	require.Equal(t, toyFacts(), f)
	require.Equal(t, n.layers, m.layers)
	require.NoError(t, Write(&again, m, f))
	require.Equal(t, first.Bytes(), again.Bytes(), "the same net gives the same bytes")
}

func TestReadFileRefusesFoldersAndNothing(t *testing.T) {
	require.ErrorContains(t, envtest.Failed2(load(t.TempDir())), "not a regular file")
	require.ErrorIs(t, envtest.Failed2(load(filepath.Join(t.TempDir(), "none"))), os.ErrNotExist)
}

func TestFactsCheck(t *testing.T) {
	f := toyFacts()
	require.NoError(t, f.Check("toy", 3, []string{"a", "b", "c"}))
	require.ErrorContains(t, f.Check("other", 3, f.Features), `game "toy", not "other"`)
	require.ErrorContains(t, f.Check("toy", 4, f.Features), "rules version 3 of toy, not 4")
	require.ErrorContains(t, f.Check("toy", 3, []string{"a", "x", "c"}), `feature 1 as "b", toy has "x"`)
	require.ErrorContains(t, f.Check("toy", 3, []string{"a", "b"}), "3 features, toy has 2")
}

// file makes a safetensors file of a header as text and some data.
func file(header string, data int) []byte {
	out := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	return append(append(out, header...), make([]byte, data)...)
}

func TestParseRefuses(t *testing.T) {
	const meta = `"__metadata__":{"game":"toy","rules":"3","features":"[\"a\",\"b\"]"}`
	const fc0 = `"fc0.weight":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]},` +
		`"fc0.bias":{"dtype":"F32","shape":[1],"data_offsets":[8,12]}`
	good := file("{"+meta+","+fc0+"}", 12)
	envtest.Must2(Parse(good))

	other := func(from, to string) []byte {
		require.Contains(t, meta+fc0, from)
		return file(strings.Replace("{"+meta+","+fc0+"}", from, to, 1), 12)
	}
	stray := `,"x":{"dtype":"F32","shape":[],"data_offsets":[12,16]}}`
	nan := append([]byte{}, good...)
	binary.LittleEndian.PutUint32(nan[len(nan)-8:], math.Float32bits(float32(math.NaN())))
	says := func(activation string) []byte {
		return file(`{"__metadata__":{"activation":"`+activation+`",`+strings.TrimPrefix(meta+","+fc0+"}", `"__metadata__":{`), 12)
	}
	_, f := envtest.Must2(Parse(says("leaky_relu 0.01")))
	require.Empty(t, f.Notes)
	for name, c := range map[string]struct {
		file []byte
		says string
	}{
		"empty":             {nil, "too short"},
		"activation":        {says("relu"), `activation "relu", want "leaky_relu 0.01": train with torch.nn.LeakyReLU(0.01)`},
		"torch.save":        {[]byte("PK\x03\x04policy/data.pkl"), "torch.save (.pt) and numpy.savez (.npz) write: save the network with blockyard.save_weights"},
		"old torch.save":    {[]byte("\x80\x02\x8a\x0alist"), "old versions of torch.save"},
		"truncated data":    {good[:len(good)-1], "truncated"},
		"truncated header":  {good[:40], "truncated"},
		"header less 1":     {good[:len(good)-13], "truncated"},
		"header bomb":       {binary.LittleEndian.AppendUint64(nil, 1<<40), "header of 1099511627776 bytes"},
		"length bomb":       {[]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, '{'}, "at most"},
		"trailing":          {append(append([]byte{}, good...), 0), "1 bytes follow"},
		"not json":          {file("{]", 0), "header"},
		"deep json":         {file(strings.Repeat("[", 100000), 0), "header"},
		"metadata kind":     {other(`"rules":"3"`, `"rules":3`), "metadata"},
		"no metadata":       {file("{"+fc0+"}", 12), `no "game"`},
		"rules":             {other(`"rules":"3"`, `"rules":"x"`), `"x" is not a number`},
		"features":          {other(`[\"a\",\"b\"]`, `a`), "not a JSON list"},
		"feature count":     {other(`[\"a\",\"b\"]`, `[\"a\"]`), "1 feature names for 2 inputs"},
		"dtype":             {other(`F32","shape":[1]`, `F16","shape":[1]`), `"F16"`},
		"negative":          {other(`[1,2]`, `[-1,2]`), "out of range"},
		"enormous":          {other(`[1,2]`, `[4611686018427387904,2]`), "out of range"},
		"product":           {other(`[1,2]`, `[100000000,100000000,100000000]`), "out of range"},
		"shape":             {other(`[1,2]`, `[2,2]`), "not at"},
		"overlap":           {other(`[8,12]`, `[4,8]`), "lies at"},
		"gap":               {other(`[8,12]`, `[9,13]`), "lies at"},
		"beyond":            {file("{"+meta+","+fc0+"}", 8), "truncated"},
		"unknown field":     {other(`"dtype"`, `"d":1,"dtype"`), "unknown field"},
		"no bias":           {other("fc0.bias", "fc1.bias"), "fc0.bias is missing"},
		"no weight":         {other("fc0.weight", "0.weight"), "no tensor named fc0.weight"},
		"flat":              {other(`[1,2]`, `[2]`), "want [out in]"},
		"not a number":      {nan, "finite"},
		"stray tensor":      {file("{"+meta+","+fc0+stray, 16), "3 tensors"},
		"too many tensors":  {many(300), "300 tensors"},
		"fractional offset": {other(`[8,12]`, `[8.5,12]`), "fc0.bias"},
	} {
		require.ErrorContains(t, envtest.Failed2(Parse(c.file)), c.says, name)
	}
}

// many is a file of n empty tensors.
func many(n int) []byte {
	var b strings.Builder
	for i := range n {
		b.WriteString(`,"` + strings.Repeat("t", i+1) + `":{"dtype":"F32","shape":[0],"data_offsets":[0,0]}`)
	}
	return file("{"+b.String()[1:]+"}", 0)
}

func TestWriteTensorsRefuses(t *testing.T) {
	var b bytes.Buffer
	bad := Tensor{"a", []int{2}, make([]float32, 3)}
	require.ErrorContains(t, WriteTensors(&b, []Tensor{bad}, nil), "3 numbers for shape [2]")
	one := Tensor{"a", []int{1}, make([]float32, 1)}
	require.ErrorContains(t, WriteTensors(&b, []Tensor{one, one}, nil), "two tensors")
}

// Whatever the bytes: no panic, memory bounded by the file, and what is read is read
// again the same after writing.
func FuzzParse(f *testing.F) {
	var toy bytes.Buffer
	require.NoError(f, Write(&toy, random(4, 3, 4, 1), toyFacts()))
	f.Add(toy.Bytes())
	f.Add(many(3))
	f.Add(envtest.Must(os.ReadFile("testdata/python.safetensors")))
	f.Fuzz(func(t *testing.T, data []byte) {
		tensors, _, err := ParseTensors(data)
		total := 0
		for _, x := range tensors {
			total += 4 * len(x.Data)
		}
		require.LessOrEqual(t, total, len(data))
		if err != nil {
			return
		}
		n, facts, err := Parse(data)
		if err != nil {
			return
		}
		var b bytes.Buffer
		require.NoError(t, Write(&b, n, facts))
		m, again := envtest.Must2(Parse(b.Bytes()))
		require.Equal(t, n.layers, m.layers)
		require.Equal(t, facts, again)
	})
}
