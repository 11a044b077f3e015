package teams

import (
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"blockyard/agents/contest/dropblox/protocol"
	"blockyard/datasets/program/web"
	"blockyard/env/envtest"
)

func TestTeamsAreReadBack(t *testing.T) {
	a, err := New("Blue Whales", "s3cret")
	b, err2 := New("Grün", "s3cret")
	require.NoError(t, errors.Join(err, err2))
	require.NotEqual(t, a.Hash, b.Hash, "salted")
	list := envtest.Must(Read("teams", strings.NewReader("# teams\n\n"+a.String()+"\r\n"+b.String())))
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
		for login, right := range map[[2]string]bool{{"a", "one"}: true, {"b", "two"}: true,
			{"a", "two"}: false, {"a", ""}: false, {"c", "one"}: false, {"", ""}: false, {"a", "one "}: false} {
			require.Equal(t, right, envtest.Must(g.Check(t.Context(), "here", login[0], login[1])), login)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	for _, name := range []string{"", " a", "a ", "#a", "a:b", "a\nb", "\xff", strings.Repeat("a", protocol.MaxName+1)} {
		require.ErrorContains(t, envtest.Failed(New(name, "secret")), "a team's name")
	}
	for _, password := range []string{"", strings.Repeat("a", protocol.MaxSecret+1)} {
		require.ErrorContains(t, envtest.Failed(New("a", password)), "a password of")
	}
}

func TestReadRefuses(t *testing.T) {
	good := envtest.Must(New("a", "one"))
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
		require.ErrorContains(t, envtest.Failed(Read("teams", strings.NewReader(text))), want)
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
		require.Equal(t, list, envtest.Must(Read("again", strings.NewReader(out.String()))))
	})
}

// hang bounds what a test waits for: it only ends one that hangs.
const hang = 2 * time.Minute

// However many guesses wait, for one team or for others, one of another address does, too, and one of their address is
// refused. A team whose password was right before is let in at once. See web.Turns for who is next.
func TestGuessesAreBounded(t *testing.T) {
	g := NewGuard([]Team{quick("a", "one", 2), quick("b", "two", 2)})
	right := func(from, team, password string) {
		require.True(t, envtest.Must(g.Check(t.Context(), from, team, password)))
	}
	right("x", "a", "one")
	require.NoError(t, g.slow.Enter(t.Context(), "test", ""))
	var group sync.WaitGroup
	var refused atomic.Int64
	for range web.MaxWaiting + 50 {
		group.Go(func() {
			if _, err := g.Check(t.Context(), "x", "b", "guess"); err != nil {
				require.ErrorIs(t, err, web.ErrBusy)
				refused.Add(1)
			}
		})
	}
	require.Eventually(t, func() bool { return refused.Load() == 50 }, hang, time.Millisecond)
	group.Go(func() { right("y", "b", "two") })
	require.Eventually(t, func() bool { return refused.Load() == 51 }, hang, time.Millisecond)
	require.Equal(t, web.MaxWaiting, g.slow.Waiting())
	right("x", "a", "one")
	g.slow.Leave()
	group.Wait()
	require.EqualValues(t, 51, refused.Load())
}
