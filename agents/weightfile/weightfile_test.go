package weightfile

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"blockyard/agents/mlp"
	"blockyard/env"
)

var names = []string{"holes", "height"}

func TestTermsSurviveAFile(t *testing.T) {
	want := []float32{-0.5, MaxTerm}
	path := filepath.Join(t.TempDir(), "w.json")
	require.NoError(t, os.WriteFile(path, FormatTerms(names, want), 0o600))
	got := make([]float32, 2)
	require.NoError(t, ReadTerms(path, names, got))
	require.Equal(t, want, got)
}

func TestReadTermsNamesFileAndTerm(t *testing.T) {
	for text, says := range map[string]string{
		`[]`:                           "weights: json",
		`{"holes":1,"height":2}{}`:     "weights: something follows the object",
		`{"holes":1}`:                  `weights: term "height" is missing`,
		`{"holes":-1001,"height":2}`:   `weights: term "holes" has weight -1001, want at most ±1000`,
		`{"holes":1,"height":2,"x":3}`: `weights: no term is named "x"`,
	} {
		path := filepath.Join(t.TempDir(), "w.json")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		require.ErrorContains(t, ReadTerms(path, names, make([]float32, 2)), path+": "+says)
	}
	require.ErrorIs(t, ReadTerms(filepath.Join(t.TempDir(), "none"), names, nil), os.ErrNotExist)
}

// A shipped net and a named one pass the same checks; where none is shipped, that is said.
func TestLoadNets(t *testing.T) {
	net, err := mlp.New([]mlp.Layer{{In: 2, Out: 1, W: []float32{1, 2}, B: []float32{3}}})
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "toy.safetensors")
	require.NoError(t, mlp.Save(path, net, mlp.Facts{Game: "toy", Rules: 4, Features: names}))
	file, err := os.ReadFile(path)
	require.NoError(t, err)

	toy := &env.Game{Name: "toy:small", Rules: 4}
	nets := Nets{Files: fstest.MapFS{}, Shipped: "w/toy", Features: names, Fits: func(*mlp.Net) error { return nil }}
	_, err = nets.Load(toy, "")
	require.ErrorIs(t, err, mlp.ErrNotShipped)
	require.EqualError(t, err, "toy:small: no weights shipped: train some, or name a file")

	nets.Files = fstest.MapFS{"w/toy": {Data: file}}
	for place, from := range map[string]string{"w/toy": "", path: path} {
		got, err := nets.Load(toy, from)
		require.NoError(t, err)
		require.Equal(t, net.Tensors(), got.Tensors())

		_, err = nets.Load(&env.Game{Name: "toy", Rules: 5}, from)
		require.EqualError(t, err, place+": weights are for rules version 4 of toy, not 5")

		odd := nets
		odd.Fits = func(*mlp.Net) error { return errors.New("too flat") }
		_, err = odd.Load(toy, from)
		require.EqualError(t, err, place+": too flat")
	}
}
