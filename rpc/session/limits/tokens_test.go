package limits

import (
	"strings"
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

// FuzzParseTokens reads any text as a file of tokens. What it reads is within the limits of the format, and an error
// does not contain a token.
func FuzzParseTokens(f *testing.F) {
	f.Add("a-token-without-a-name")
	f.Add("# names\nalice 0123456789abcdef0123 max_envs=10\nbob fedcba9876543210fedc max_sessions=2 max_memory=9\n")
	f.Add("alice 0123456789abcdef0123 max_envs=x\n\nalice 0123456789abcdef0123")
	f.Fuzz(func(t *testing.T, text string) {
		list, err := ParseTokens(text)
		if err != nil {
			names, secrets := "", []string{}
			for _, line := range strings.Split(text, "\n") {
				words := strings.Fields(line)
				if len(words) > 1 {
					names, words = names+" "+words[0], words[1:]
				}
				for _, word := range words {
					if len(word) > 20 && !strings.Contains(word, "max_") {
						secrets = append(secrets, word)
					}
				}
			}
			for _, secret := range secrets {
				if !strings.Contains(names, secret) {
					require.NotContains(t, err.Error(), secret)
				}
			}
			return
		}
		require.NotEmpty(t, list)
		for k, token := range list {
			require.NotEmpty(t, token.Secret)
			require.True(t, token.Name != "" || len(list) == 1)
			require.True(t, token.MaxEnvs >= 0 && token.MaxSessions >= 0 && token.MaxMemory >= 0)
			for _, other := range list[:k] {
				require.NotEqual(t, token.Name, other.Name)
				require.NotEqual(t, token.Secret, other.Secret)
			}
		}
	})
}
