package limits

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParseTokens(t *testing.T) {
	for text, want := range map[string][]Token{
		"secret":                    {{Secret: "secret"}},
		"# the server's\n\nsecret ": {{Secret: "secret"}},
		"ann s3cret\r\nbob other max_envs=10 max_memory=5000000000 max_sessions=2\n": {
			{Name: "ann", Secret: "s3cret"},
			{Name: "bob", Secret: "other", MaxEnvs: 10, MaxMemory: 5_000_000_000, MaxSessions: 2},
		},
	} {
		have, err := ParseTokens(text)
		require.NoError(t, err, text)
		require.Equal(t, want, have)
	}
	for text, says := range map[string]string{
		"":                                 "no token",
		"# nothing\n":                      "no token",
		"hidden\nbob hidden":               "line 2: a token without a name must be the only one",
		"ann hidden\nhidden2":              "line 2: a token without a name must be the only one",
		"ann hidden\nann hidden2":          "line 2: there is another token named ann",
		"ann hidden\nbob hidden":           "line 2: ann and bob have the same token",
		"a/b hidden":                       "line 1: want NAME TOKEN",
		"ann hidden max_envs":              `max_envs is "", want a whole number from 1 to 9223372036854775807`,
		"ann hidden max_envs=0":            `max_envs is "0"`,
		"ann hidden max_memory=4GB":        `max_memory is "4GB"`,
		"ann hidden hidden hidden":         "line 1: word 3: want max_sessions=N, max_envs=N or max_memory=BYTES",
		"\nann hidden max_envs=1 hidden=1": "line 2: word 4: want max_sessions=N",
	} {
		_, err := ParseTokens(text)
		require.ErrorContains(t, err, says, text)
		require.NotContains(t, err.Error(), "hidden", "errors never contain a token")
	}
}
