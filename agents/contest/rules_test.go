package contest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"blockyard/env/envtest/rulebook"
)

// TestRulesLimits compares the limits of a host with section 9 of the contests' RULES.md.
func TestRulesLimits(t *testing.T) {
	limits := map[string]bool{
		"16,384 bytes": MaxLine == 16384, "64 MiB": maxChatter == 64<<20, "1 MiB": maxErrors == 1<<20,
		"4,096 bytes": maxErrLine == 4096, "300 ms": leaveTime == 300*time.Millisecond,
	}
	for _, game := range []string{"blockbattle", "tetrisduel", "blocking"} {
		text := rulebook.Open(t, "../../env/"+game).Section("9").Text
		for said, so := range limits {
			require.True(t, so, "no longer %s: write the new limit into all RULES.md", said)
			require.Contains(t, text, said, game)
		}
	}
}
