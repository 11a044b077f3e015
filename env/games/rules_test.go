package games

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Every game and variant has the rules of its folder.
func TestRules(t *testing.T) {
	for _, g := range All {
		folder, _, _ := strings.Cut(g.Name, ":")
		want, err := os.ReadFile(filepath.Join("..", folder, "RULES.md"))
		require.NoError(t, err)
		require.Equal(t, string(want), Rules(g), g.Name)
	}
}
