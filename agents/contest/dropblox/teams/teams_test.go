package teams

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/contest/dropblox/protocol"
)

func TestTeamsAreReadBack(t *testing.T) {
	a, err := New("Blue Whales", "s3cret")
	require.NoError(t, err)
	b, err := New("Grün", "s3cret")
	require.NoError(t, err)
	require.NotEqual(t, a.Hash, b.Hash, "salted")
	list, err := Read("teams", strings.NewReader("# teams\n\n"+a.String()+"\r\n"+b.String()))
	require.NoError(t, err)
	require.Equal(t, []Team{a, b}, list)
	require.NotContains(t, a.String(), "s3cret")
}

// quick makes a team whose password is checked fast.
func quick(name, password string, iterations int) Team {
	t := Team{Name: name, Iterations: iterations, Salt: []byte("some salt")}
	t.Hash = t.derive(password)
	return t
}

func TestGuard(t *testing.T) {
	g := NewGuard([]Team{quick("a", "one", 2), quick("b", "two", 3)})
	require.Equal(t, 2, g.Len())
	for range 2 { // by the slow hash, then by the fast one
		for _, right := range [][2]string{{"a", "one"}, {"b", "two"}} {
			ok, err := g.Check(t.Context(), "here", right[0], right[1])
			require.NoError(t, err)
			require.True(t, ok)
		}
		for _, wrong := range [][2]string{{"a", "two"}, {"a", ""}, {"c", "one"}, {"", ""}, {"a", "one "}} {
			ok, err := g.Check(t.Context(), "here", wrong[0], wrong[1])
			require.NoError(t, err)
			require.False(t, ok)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	for _, name := range []string{"", " a", "a ", "#a", "a:b", "a\nb", "\xff", strings.Repeat("a", protocol.MaxName+1)} {
		_, err := New(name, "secret")
		require.ErrorContains(t, err, "a team's name")
	}
	for _, password := range []string{"", strings.Repeat("a", protocol.MaxSecret+1)} {
		_, err := New("a", password)
		require.ErrorContains(t, err, "a password of")
	}
}

func TestReadRefuses(t *testing.T) {
	good, err := New("a", "one")
	require.NoError(t, err)
	line := good.String()
	for text, want := range map[string]string{
		"a:one": "teams:1: want NAME:pbkdf2",
		"\n" + strings.Replace(line, scheme, "md5", 1): "teams:2: want NAME",
		strings.Replace(line, "200000", "0", 1):        "iterations \"0\"",
		strings.Replace(line, "200000", "99999999", 1): "iterations",
		"a:" + scheme + ":1:??:AAAA":                   "the salt",
		"a:" + scheme + ":1:AAAAAAAAAAAA:AAAA":         "the hash",
		" " + line:                                     "a team's name",
		line + "\n" + line:                             "teams:2: team a is there twice",
		strings.Repeat("a", 5000):                      "token too long",
	} {
		_, err := Read("teams", strings.NewReader(text))
		require.ErrorContains(t, err, want)
	}
}

func FuzzRead(f *testing.F) {
	f.Add("a:pbkdf2-sha256:1:AAAAAAAAAAAA:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA")
	f.Add("# a\n\nb:c")
	f.Fuzz(func(t *testing.T, text string) {
		list, err := Read("fuzz", strings.NewReader(text))
		if err != nil {
			return
		}
		var out strings.Builder
		for _, team := range list {
			out.WriteString(team.String() + "\n")
		}
		again, err := Read("again", strings.NewReader(out.String()))
		require.NoError(t, err)
		require.Equal(t, list, again)
	})
}
