package games

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// An unknown name that is like one of a game is answered with that.
func TestLookupSuggests(t *testing.T) {
	for name, want := range map[string]string{
		"blockbatle": "; did you mean blockbattle?", "BlockBattel-v0": "; did you mean blockbattle?",
		"blockyard/wintetris-v0": "; did you mean wintetris?", "Blocking": "; did you mean blocking?",
	} {
		_, err := Lookup(name)
		require.ErrorContains(t, err, want, name)
	}
	_, err := Lookup("chess")
	require.NotContains(t, err.Error(), "did you mean")
}
