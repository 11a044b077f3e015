//go:build unix

package commands

import (
	"context"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"blockyard/datasets/program/ops/opstest"
	"blockyard/datasets/program/web/webtest"
)

// The server of a contest shows what its clients do.
func TestServeDropbloxHTTP(t *testing.T) {
	dropblox(t, `exit`)
	addTeam(t, "Blue", "b")
	ctx, stop := context.WithCancel(t.Context())
	out, errs := new(loud), new(loud)
	ended := make(chan int, 1)
	go func() {
		args := []string{"serve", "dropblox", "--teams", "teams.txt", "--listen", "127.0.0.1:0",
			"--http", "127.0.0.1:0", "--log-format", "json"}
		ended <- run(ctx, args, &console{In: strings.NewReader(""), Out: out, Err: errs})
	}()
	address := regexp.MustCompile(`http://127\.0\.0\.1:\d+`)
	require.Eventually(t, func() bool { return address.MatchString(out.String()) }, time.Minute, time.Millisecond)
	contest, site := address.FindString(out.String()), address.FindString(errs.String())
	require.True(t, strings.HasPrefix(errs.String(), `{"time":`), errs.String())

	webtest.Refuses(t, strings.TrimPrefix(site, "http://"), "/metrics", http.StatusOK)
	webtest.Refuses(t, strings.TrimPrefix(contest, "http://"), "/create_practice_game", http.StatusMethodNotAllowed)
	page := opstest.Scrape(t, site)
	require.EqualValues(t, 1, page.Value(t, "blockyard_contest_teams"))
	require.Zero(t, page.Value(t, "blockyard_contest_games_total", "practice"))
	for body, want := range map[string]int{
		`{"team_name": "Blue", "password": "b"}`: http.StatusOK,
		`{"team_name": "Blue", "password": "c"}`: http.StatusUnauthorized,
	} {
		reply, err := http.Post(contest+"/create_practice_game", "application/json", strings.NewReader(body))
		require.NoError(t, err)
		require.NoError(t, reply.Body.Close())
		require.Equal(t, want, reply.StatusCode)
	}
	page = opstest.Scrape(t, site)
	require.EqualValues(t, 1, page.Value(t, "blockyard_contest_games_total", "practice"))
	require.EqualValues(t, 1, page.Value(t, "blockyard_contest_running_games"))
	require.EqualValues(t, 1, page.Value(t, "blockyard_contest_requests_total", "200"))
	require.EqualValues(t, 1, page.Value(t, "blockyard_contest_requests_total", "401"))
	require.Regexp(t, `"msg":"practice game","team":"Blue"`, errs.String())
	stop()
	require.Zero(t, <-ended)
}
