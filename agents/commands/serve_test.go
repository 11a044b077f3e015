//go:build unix

package commands

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"blockyard/agents/contest/dropblox/server"
)

// A loud is a buffer for several goroutines.
type loud struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *loud) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *loud) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// serve runs "agents serve dropblox" with a password to read.
func serve(ctx context.Context, out *loud, password string, args ...string) (int, string) {
	var errs bytes.Buffer
	args = append([]string{"serve", "dropblox", "--teams", "teams.txt"}, args...)
	status := run(ctx, args, &console{In: strings.NewReader(password), Out: out, Err: &errs})
	return status, errs.String()
}

func addTeam(t *testing.T, name, password string) {
	t.Helper()
	out := new(loud)
	status, errs := serve(t.Context(), out, password, "--add", name)
	require.Zero(t, status, errs)
	require.Equal(t, "teams.txt: team "+name+" saved\n", out.String())
}

func TestServeDropblox(t *testing.T) {
	dropblox(t, `echo rotate; echo left`)
	addTeam(t, "Blue", "b\n")
	addTeam(t, "Red Ones", "wrong")
	addTeam(t, "Red Ones", "r")
	info, err := os.Stat("teams.txt")
	require.NoError(t, err)
	require.EqualValues(t, 0o600, info.Mode().Perm())
	require.NoError(t, os.WriteFile("blue.txt", []byte("Blue\nb\n"), 0o600))
	require.NoError(t, os.WriteFile("red.txt", []byte("Red Ones\nr\n"), 0o600))

	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	out := new(loud)
	var group sync.WaitGroup
	group.Go(func() {
		status, errs := serve(ctx, out, "", "--listen", "127.0.0.1:0", "--notice", "100ms", "--history", "server", "--page", "page")
		if status != 0 {
			t.Error(status, errs)
		}
	})
	address := regexp.MustCompile(`http://127\.0\.0\.1:\d+`)
	require.Eventually(t, func() bool { return address.MatchString(out.String()) }, time.Minute, 10*time.Millisecond)
	url := address.FindString(out.String())

	status, said, errs := hostDropblox(t.Context(), "practice", "--server", url, "--config", "blue.txt")
	require.Zero(t, status, errs)
	require.Regexp(t, `^Game: [A-Z0-9]{12}\nTerminating process\n`, said)
	require.Contains(t, said, "\nRESULTS: 0\n")
	require.NoError(t, os.WriteFile("no.txt", []byte("Blue\nr\n"), 0o600))
	status, _, errs = hostDropblox(t.Context(), "practice", "--server", url, "--config", "no.txt")
	require.Equal(t, 1, status)
	require.Contains(t, errs, "wrong team name or password")

	var teams sync.WaitGroup
	for _, config := range []string{"blue.txt", "red.txt"} {
		teams.Go(func() {
			status, said, errs := hostDropblox(t.Context(), "compete", "--server", url, "--config", config)
			if status != 0 || !strings.Contains(said, "waiting for the competition to begin\nGame: ") ||
				!strings.Contains(said, "\nRESULTS: 0\n") {
				t.Error(status, said, errs)
			}
		})
	}
	teams.Wait()
	ranked := func() bool { return strings.Contains(out.String(), "round 1, seed ") }
	require.Eventually(t, ranked, time.Minute, 10*time.Millisecond)
	require.Regexp(t, `(?m)^   1      0     +\d+  blocked  [A-Z0-9]{12}  Red Ones$`, out.String())
	stop()
	group.Wait()
	require.Contains(t, out.String(), "dropblox, rounds, seed 0: 1 games\n", "the table of all rounds")
	page, err := os.ReadFile("page/index.html")
	require.NoError(t, err)
	for _, want := range []string{">finished<", `class="name">Blue<`, `class="name">Red Ones<`, ">round 1<", `title="Blue against Red Ones">0.5/1<`} {
		require.Contains(t, string(page), want)
	}
}

func TestServeDropbloxRounds(t *testing.T) {
	dropblox(t, `exit`)
	addTeam(t, "Blue", "b")
	out := new(loud)
	status, errs := serve(t.Context(), out, "", "--listen", "127.0.0.1:0", "--rounds", "1",
		"--start-in", "1ms", "--seconds", "0.1", "--json")
	require.Zero(t, status, errs)
	var got server.Round
	require.NoError(t, json.Unmarshal([]byte(out.String()), &got))
	require.Equal(t, 1, got.Number)
	require.Empty(t, got.Ranks)
}

func TestServeRefuses(t *testing.T) {
	dropblox(t, `exit`)
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // whoever is served all the same ends at once
	check := func(want string, args ...string) {
		status, errs := serve(ctx, new(loud), "", args...)
		require.Equal(t, 2, status, args)
		require.Contains(t, errs, want)
	}
	check("teams.txt: no teams; --add NAME adds one")
	check("a team's name", "--add", "a:b")
	check("a password of 0 bytes", "--add", "a")
	for _, flag := range []string{"--add", "--listen", "--teams"} { // as from a script's empty variable
		check(flag+": empty, want", flag+"=")
		check(flag+": empty, want", flag, "")
	}
	require.NoError(t, os.WriteFile("teams.txt", []byte("# nobody\n"), 0o600))
	check("no teams; --add NAME adds one")
	require.NoError(t, os.WriteFile("teams.txt", []byte("Blue:b\n"), 0o600))
	check("teams.txt:1: want NAME:pbkdf2")
	check("teams.txt:1: want NAME:pbkdf2", "--add", "Red")
	check("--seconds", "--seconds=-1")
	check("not negative", "--rounds=-1")
	check("--practice 0: want 1", "--practice=0")
	check("--history-mb -1: want 1", "--history-mb=-1")
	require.NoError(t, os.WriteFile("teams.txt", []byte("# kept"), 0o600))
	addTeam(t, "a", "b")
	text, err := os.ReadFile("teams.txt")
	require.NoError(t, err)
	require.Regexp(t, "^# kept\na:pbkdf2-sha256:[^\n]*\n$", string(text))
	status, errs := serve(ctx, new(loud), "", "--listen", "nowhere:-1")
	require.Equal(t, 1, status)
	require.Contains(t, errs, "invalid port")
}
