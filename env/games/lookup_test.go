package games

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/env/envtest"
)

// An unknown name that is like one of a game is answered with that.
func TestLookupSuggests(t *testing.T) {
	for name, want := range map[string]string{
		"blockbatle": "; did you mean blockbattle?", "BlockBattel-v0": "; did you mean blockbattle?",
		"blockyard/wintetris-v0": "; did you mean wintetris?", "Blocking": "; did you mean blocking?",
	} {
		require.ErrorContains(t, envtest.Failed(Lookup(name)), want, name)
	}
	_, err := Lookup("chess")
	require.NotContains(t, err.Error(), "did you mean")
}

// Every game and variant has the rules of its folder.
func TestRules(t *testing.T) {
	for _, g := range All {
		folder, _, _ := strings.Cut(g.Name, ":")
		require.Equal(t, string(envtest.Must(os.ReadFile(filepath.Join("..", folder, "RULES.md")))), Rules(g), g.Name)
	}
}
