package tournament

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/match"
	"blockyard/datasets/program/web/webtest"
	"blockyard/datasets/record"
	"blockyard/env/blocking"
	"blockyard/env/envtest"
)

// fixed is a contest in which the first seat always wins. During a game it calls during.
type fixed struct{ during func() error }

func (f fixed) Play(_ context.Context, g *match.Played) (*record.Record, error) {
	g.Points, g.Ranks, g.UsedMS, g.MostMS = []int{1, 0}, []int{1, 2}, []float64{0, 0}, []float64{0, 0}
	return nil, f.during()
}

// between is a tournament of entrants a, b, ... without a journal.
func between(c match.Runner, names ...string) *Tournament {
	tour := &Tournament{Config: Config{Rules: blocking.Game, Format: RoundRobin, Seats: 2, Games: 2}, Runner: c}
	for _, name := range names {
		tour.Entrants = append(tour.Entrants, &Entrant{Name: name, Agent: name})
	}
	return tour
}

// open returns a tournament of entrants a, b, ... in a folder, which writes its page there.
func open(t *testing.T, dir string, c match.Runner, names ...string) *Tournament {
	tour := between(c, names...)
	tour.Journal = envtest.Must(openJournal(dir, &tour.Config, "", tour.Entrants))
	t.Cleanup(func() { _ = tour.Journal.Close() })
	tour.Changed = func(t *Tournament) error { return t.WritePage(dir) }
	return tour
}

// TestThePageIsThereFromTheStart: live during the first game, and stopped after an error.
func TestThePageIsThereFromTheStart(t *testing.T) {
	dir := t.TempDir()
	page := func() string { return pageOf(dir) }
	games, trouble := 0, errors.New("trouble")
	tour := open(t, dir, fixed{func() error {
		require.Regexp(t, `(?s)http-equiv="refresh".*>live<`, page())
		if games++; games == 2 {
			return trouble
		}
		return nil
	}}, "a", "b")
	tour.Testing = "1 of 2 entrants are compiled and tested"
	require.NoError(t, tour.WritePage(dir))
	require.Regexp(t, `(?s)http-equiv="refresh".*>testing</b>1 of 2 entrants are compiled and tested ·`, page())
	require.Equal(t, 2, strings.Count(page(), "no result yet"))
	require.ErrorIs(t, tour.Play(t.Context()), trouble)
	require.NotRegexp(t, `>testing<|http-equiv="refresh"`, page())
	require.Regexp(t, "(?s)>stopped<.*1 of 2 games", page())

	_, err := openJournal(dir, &tour.Config, "", tour.Entrants)
	require.ErrorContains(t, err, "another process plays in "+dir)
	require.NoError(t, tour.Journal.Close())
	for says, entrants := range map[string][]*Entrant{
		"c is new, b is missing: name another folder": {{Name: "a"}, {Name: "c"}},
		"b has changed: ":           {{Name: "a"}, {Name: "b", Fingerprint: "other"}},
		"their order has changed: ": {{Name: "b"}, {Name: "a"}},
	} {
		require.ErrorContains(t, envtest.Failed(openJournal(dir, &tour.Config, "", entrants)), "is of other entrants: "+says)
	}
	again := open(t, dir, fixed{func() error { return nil }}, "a", "b")
	require.NoError(t, again.Play(t.Context()))
	require.Contains(t, page(), ">finished<")
}

// TestThePageOnAPhone: the table and the links of every game have room, also beside long names and reasons.
func TestThePageOnAPhone(t *testing.T) {
	dir := t.TempDir()
	tour := open(t, dir, fixed{func() error { return nil }}, strings.Repeat("longname", 9), "b", "c")
	require.NoError(t, tour.Play(t.Context()))
	require.NoError(t, os.Mkdir(filepath.Join(dir, LogsDir), 0o755))
	for _, g := range tour.Played {
		require.NoError(t, os.WriteFile(filepath.Join(dir, LogFile(g.Number)), nil, 0o644))
	}
	tour.Entrants = append(tour.Entrants, &Entrant{Name: "d", Refused: "no such file: " + strings.Repeat("longname", 40)})
	require.NoError(t, tour.WritePage(dir))
	b := webtest.Open(t, Handler(dir))
	fits(t, b, "tournament", "document.querySelectorAll('.links a').length >= 6")
	b.Size(390, 844, 2, true)
	require.Equal(t, "[]", b.Text(`JSON.stringify([...document.querySelectorAll(".board, .games")].map((e) => e.parentNode)
		.filter((e) => e.scrollWidth > e.clientWidth).map((e) => e.scrollWidth))`))
	require.Equal(t, "[]", b.Text(`JSON.stringify([...document.querySelectorAll(".links a")].map((a) => a.getBoundingClientRect())
		.filter((r) => r.left < 0 || r.right > innerWidth || r.height < 24))`), "what a finger can hit")
	b.Clean()
}

// TestWithoutAGameEntrantsMayChange: nobody passed the test; the page and the report say so, and the folder can be used.
func TestWithoutAGameEntrantsMayChange(t *testing.T) {
	dir := t.TempDir()
	tour := open(t, dir, fixed{}, "a", "b")
	for _, e := range tour.Entrants {
		e.Refused = "never answers"
	}
	require.ErrorContains(t, tour.Play(t.Context()), "0 of 2 entrants passed the test, want at least 2")
	require.Regexp(t, `(?s)0 games\n.*b: never answers`, tour.Report().String())
	require.Contains(t, pageOf(dir), "never answers")
	for _, tested := range []bool{false, true} {
		require.NoError(t, tour.Journal.Close())
		tour = open(t, dir, fixed{func() error { return nil }}, "a", "c")
		require.Equal(t, tested, tour.Journal.Tested())
		require.NoError(t, tour.Play(t.Context()))
	}
}

// openJournal opens the journal of a tournament and begins it.
func openJournal(dir string, c *Config, settings string, entrants []*Entrant) (*Journal, error) {
	j, err := OpenJournal(dir)
	if err == nil {
		if err = j.Begin(c, settings, entrants); err != nil {
			_ = j.Close()
		}
	}
	return j, err
}

// TestJournalIsOpenBeforeBotsRun: what an entrant writes into the journal and the head while it is tested, and while
// games are played, does not count.
func TestJournalIsOpenBeforeBotsRun(t *testing.T) {
	dir := t.TempDir()
	forge := func() error { // b won
		won := `{"number":0,"stage":"round robin","seats":[0,1],"seed":"1","points":[0,9],"ranks":[2,1],"used_ms":[0,0],` +
			`"longest_ms":[0,0],"rounds":1}` + "\n"
		require.NoError(t, os.WriteFile(filepath.Join(dir, journalFile), []byte(won), 0o600))
		return os.WriteFile(filepath.Join(dir, headFile), []byte("{}"), 0o600)
	}
	tour := between(fixed{forge}, "a", "b")
	tour.Changed = func(*Tournament) error { return nil }
	tour.Journal = envtest.Must(OpenJournal(dir))
	t.Cleanup(func() { _ = tour.Journal.Close() })
	require.NoError(t, forge(), "while it is tested")
	require.False(t, tour.Journal.Tested())
	require.NoError(t, tour.Journal.Begin(&tour.Config, "", tour.Entrants))
	require.Empty(t, tour.Journal.Played)
	require.NoError(t, tour.Play(t.Context()), "while games are played")
	require.Len(t, tour.Played, 2)
	for _, p := range tour.Played {
		require.Equal(t, []int{1, 2}, p.Ranks, "as it was played")
	}
}
