package conform_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

// A game cut short agrees as far as it goes, unless our rules know that it is over; one
// that goes on after its end does not.
func TestBlockbattleGamesOfOtherLengths(t *testing.T) {
	spawns := 0
	for _, name := range []string{"classic_games", "port_games"} {
		for _, line := range lines(t, "blockbattle/"+name) {
			var rec map[string]any
			require.NoError(t, json.Unmarshal([]byte(line), &rec))
			rounds := rec["rounds"].([]any)
			differ := func(rounds []any) int {
				cut := map[string]any{"id": "cut", "rules": rec["rules"], "rounds": rounds}
				text, err := json.Marshal(cut)
				require.NoError(t, err)
				found, err := tally(t, string(text))
				require.NoError(t, err)
				return found.Differ
			}
			last := rounds[len(rounds)-1].(map[string]any)
			_, played := last["p"].([]any)[0].(map[string]any)["out"]
			require.Zero(t, differ(rounds))
			require.Zero(t, differ(rounds[:len(rounds)/2]))
			require.Positive(t, differ(append(rounds[:len(rounds):len(rounds)], last)))
			if played {
				require.Zero(t, differ(rounds[:len(rounds)-1]))
			} else {
				spawns++
				require.Equal(t, 1, differ(rounds[:len(rounds)-1]))
			}
		}
	}
	require.Positive(t, spawns)
}
