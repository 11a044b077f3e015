package dropblox

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"blockyard/env/dropblox"
	"blockyard/env/envtest/rulebook"
)

// TestRulesLimits compares the limits of a program with rules §9.
func TestRulesLimits(t *testing.T) {
	text := rulebook.Open(t, "../../../env/dropblox").Section("9").Text
	for said, so := range map[string]bool{
		"65,536 commands": MaxCommands == 65536, "16 MiB": maxOutput == 16<<20, "64 KiB": maxShown == 64<<10,
		"4,096 bytes": dropblox.MaxLine == 4096, "1 MiB": maxErrors == 1<<20,
		"after 1 s": exitTime == time.Second, "killed 0.5 s later": Grace == 500*time.Millisecond,
	} {
		require.True(t, so, "no longer %s: write the new limit into RULES.md", said)
		require.Contains(t, text, said)
	}
}
