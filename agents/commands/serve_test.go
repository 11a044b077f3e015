//go:build unix

package commands

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/contest/dropblox/server"
	"blockyard/datasets/program/ops/opstest"
	"blockyard/datasets/program/web/webtest"
	"blockyard/env/envtest"
)

// serves begins "agents serve dropblox" with a password to read.
func serves(t *testing.T, in io.Reader, line string, more ...string) *running {
	return begin(t, in, "serve dropblox --teams teams.txt "+line, more...)
}

func addTeam(t *testing.T, name, password string) {
	r := serves(t, strings.NewReader(password), "--add", name)
	require.Zero(t, <-r.ended, r.errs.String())
	require.Equal(t, "teams.txt: team "+name+" saved\n", r.out.String())
}

// TestServeDropbloxHTTP: teams practise and compete over HTTP. The server shows on its pages what they do.
func TestServeDropbloxHTTP(t *testing.T) {
	dropblox(t, `echo rotate; echo left`)
	addTeam(t, "Blue", "b\n")
	addTeam(t, "Red Ones", "wrong")
	addTeam(t, "Red Ones", "r")
	require.EqualValues(t, 0o600, envtest.Must(os.Stat("teams.txt")).Mode().Perm())
	writeFiles(t, ".", map[string]string{"blue.txt": "Blue\nb\n", "red.txt": "Red Ones\nr\n", "no.txt": "Blue\nr\n"})

	r := serves(t, nil, "--listen 127.0.0.1:0 --notice 100ms --history server --page page --http 127.0.0.1:0 --log-format json")
	const address = `http://127\.0\.0\.1:\d+`
	url, site := r.out.await(t, address), r.errs.await(t, address)
	require.True(t, strings.HasPrefix(r.errs.String(), `{"time":`), r.errs.String())
	webtest.Refuses(t, strings.TrimPrefix(site, "http://"), "/metrics", http.StatusOK)
	webtest.Refuses(t, strings.TrimPrefix(url, "http://"), "/create_practice_game", http.StatusMethodNotAllowed)
	page := opstest.Scrape(t, site)
	require.EqualValues(t, 2, page.Value(t, "blockyard_contest_teams"))
	require.Zero(t, page.Value(t, "blockyard_contest_games_total", "practice"))
	for password, want := range map[string]int{"b": http.StatusOK, "c": http.StatusUnauthorized} {
		reply := envtest.Must(http.Post(url+"/create_practice_game", "application/json",
			strings.NewReader(fmt.Sprintf(`{"team_name": "Blue", "password": %q}`, password))))
		require.NoError(t, reply.Body.Close())
		require.Equal(t, want, reply.StatusCode)
	}
	page = opstest.Scrape(t, site)
	require.EqualValues(t, 1, page.Value(t, "blockyard_contest_games_total", "practice"))
	require.EqualValues(t, 1, page.Value(t, "blockyard_contest_running_games"))
	require.EqualValues(t, 1, page.Value(t, "blockyard_contest_requests_total", "200"))
	require.EqualValues(t, 1, page.Value(t, "blockyard_contest_requests_total", "401"))
	require.Regexp(t, `"msg":"practice game","team":"Blue"`, r.errs.String())

	practice := "host dropblox practice --server " + url + " --config "
	said := succeeds(t, practice+"blue.txt")
	require.Regexp(t, `^Game: [A-Z0-9]{12}\nTerminating process\n`, said)
	require.Contains(t, said, "\nRESULTS: 0\n")
	_, errs := ends(t, 1, practice+"no.txt")
	require.Contains(t, errs, "wrong team name or password")

	var teams sync.WaitGroup
	for _, config := range []string{"blue.txt", "red.txt"} {
		team := begin(t, nil, "host dropblox compete --server "+url+" --config "+config)
		teams.Go(func() {
			status, said := <-team.ended, team.out.String()
			if status != 0 || !strings.Contains(said, "waiting for the competition to begin\nGame: ") ||
				!strings.Contains(said, "\nRESULTS: 0\n") {
				t.Error(status, said, team.errs.String())
			}
		})
	}
	teams.Wait()
	r.out.await(t, "round 1, seed ")
	require.Regexp(t, `(?m)^   1      0     +\d+  blocked  [A-Z0-9]{12}  Red Ones$`, r.out.String())
	require.Zero(t, r.stop(t), r.errs.String())
	require.Contains(t, r.out.String(), "dropblox, rounds, seed 0: 1 games\n", "the table of all rounds")
	envtest.Has(t, read("page/index.html"), ">finished<", `class="name">Blue<`, `class="name">Red Ones<`, ">round 1<",
		`title="Blue against Red Ones">0.5/1<`)
}

func TestServeDropbloxRounds(t *testing.T) {
	dropblox(t, `exit`)
	addTeam(t, "Blue", "b")
	got := decoded[server.Round](t, succeeds(t, "serve dropblox --teams teams.txt --listen 127.0.0.1:0 --rounds 1 "+
		"--start-in 1ms --seconds 0.1 --json"))
	require.Equal(t, 1, got.Number)
	require.Empty(t, got.Ranks)
}

func TestServeRefuses(t *testing.T) {
	dropblox(t, `exit`)
	for _, c := range []struct {
		teams string // their file, "" for none
		lines map[string]string
	}{
		{"", map[string]string{
			"": "teams.txt: no teams; --add NAME adds one", "--add a:b": "a team's name", "--add a": "a password of 0 bytes",
			"--add=": "--add: empty, want", "--listen=": "--listen: empty, want", "--teams=": "--teams: empty, want", // from a script's empty variable
		}},
		{"# nobody\n", map[string]string{"": "no teams; --add NAME adds one"}},
		{"Blue:b\n", map[string]string{
			"": "teams.txt:1: want NAME:pbkdf2", "--add Red": "teams.txt:1: want NAME:pbkdf2", "--seconds=-1": "--seconds",
			"--rounds=-1": "not negative", "--practice=0": "--practice 0: want 1", "--history-mb=-1": "--history-mb -1: want 1",
		}},
	} {
		if c.teams != "" {
			writeFiles(t, ".", map[string]string{"teams.txt": c.teams})
		}
		for line, why := range c.lines {
			// Whoever is served ends at once.
			_, errs := endsIn(t, envtest.Stopped(t), 2, "serve dropblox --teams teams.txt "+line)
			require.Contains(t, errs, why, line)
		}
	}
	for _, flag := range []string{"--add", "--listen", "--teams"} {
		_, errs := endsIn(t, envtest.Stopped(t), 2, "serve dropblox --teams teams.txt", flag, "")
		require.Contains(t, errs, flag+": empty, want")
	}
	writeFiles(t, ".", map[string]string{"teams.txt": "# kept"})
	addTeam(t, "a", "b")
	require.Regexp(t, "^# kept\na:pbkdf2-sha256:[^\n]*\n$", read("teams.txt"))
	_, errs := endsIn(t, envtest.Stopped(t), 1, "serve dropblox --teams teams.txt --listen nowhere:-1")
	require.Contains(t, errs, "invalid port")
}
