package commands

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/mlp"
	"blockyard/train/onnx"
)

// A net goes to ONNX and comes back as it was, with what it is for.
func TestConvert(t *testing.T) {
	dir := t.TempDir()
	model, weights, again := filepath.Join(dir, "m.onnx"), filepath.Join(dir, "w.safetensors"), filepath.Join(dir, "2.onnx")
	for _, game := range []string{"blockbattle", "wintetris"} {
		require.NoError(t, command(t, "export", game, "--onnx", model))
		require.NoError(t, command(t, "import", model, "--out", weights))
		require.NoError(t, command(t, "export", game, "--weights", weights, "--onnx", again))
		first, err := os.ReadFile(model)
		require.NoError(t, err)
		second, err := os.ReadFile(again)
		require.NoError(t, err)
		require.Equal(t, first, second)
	}
	require.ErrorContains(t, command(t, "import", model, "--out", weights, "--game", "dropblox"),
		`weights are for game "wintetris", not "dropblox"`)
	require.ErrorContains(t, command(t, "import", weights), "not an ONNX model")

	// A model of another program says nothing about itself.
	file, err := os.ReadFile(weights)
	require.NoError(t, err)
	net, _, err := mlp.Parse(file)
	require.NoError(t, err)
	bare, err := onnx.Write(net, mlp.Facts{})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(model, bare, 0o600))
	require.ErrorContains(t, command(t, "import", model, "--out", weights), "pass --game GAME")
	require.ErrorContains(t, command(t, "import", model, "--out", weights, "--game", "dropblox"),
		"a net of 37 inputs and 1 outputs, want 75 and 1")
	require.NoError(t, command(t, "import", model, "--out", weights, "--game", "wintetris"))
}
