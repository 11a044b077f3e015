package dropblox

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestReadConfig(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.txt")
	_, err := ReadConfig(path)
	require.ErrorIs(t, err, os.ErrNotExist)
	for text, want := range map[string]Config{
		"Blue Whales\ns3cret":             {"Blue Whales", "s3cret"},
		"\ufeffa \r\n b\r\nanything else": {"a", "b"},
	} {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		got, err := ReadConfig(path)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	for text, want := range map[string]string{
		"":                               "config.txt: want two lines",
		"a":                              "want two lines",
		"\nb":                            "line 1",
		"a\n":                            "line 2",
		strings.Repeat("a", 100) + "\nb": "line 1: a team name of 100 bytes",
	} {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		_, err := ReadConfig(path)
		require.ErrorContains(t, err, want)
	}
}

func FuzzConfig(f *testing.F) {
	f.Add("a\nb\n")
	f.Add("\xff\n\n")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := parseConfig(text)
		if err != nil {
			return
		}
		again, err := parseConfig(c.Team + "\r\n" + c.Password)
		require.NoError(t, err)
		require.Equal(t, c, again)
	})
}
