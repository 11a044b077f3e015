package tournament

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/contest"
	"blockyard/agents/match"
	"blockyard/agents/search"
	"blockyard/datasets/program/web/webtest"
	"blockyard/datasets/record"
	"blockyard/env"
	"blockyard/env/blocking"
	"blockyard/env/envtest"
)

// drawn is a contest between agents that play at random. It notes what note makes of a result, if that is set.
type drawn struct {
	note func(*match.Played)
	name func(entrant int) string // in records
}

// letter is the name of an entrant: a, b, ...
func letter(entrant int) string { return string(rune('a' + entrant)) }

func (d drawn) Play(ctx context.Context, p *match.Played) (*record.Record, error) {
	seed := envtest.Must(strconv.ParseUint(p.Seed, 10, 64))
	m := match.Game{Rules: blocking.Game, Seed: seed}
	for seat, e := range p.Seats {
		m.Names, m.Agents = append(m.Names, d.name(e)), append(m.Agents, search.NewRandom(seed+uint64(seat)))
	}
	rec, err := match.Play(ctx, m)
	if err != nil {
		return nil, err
	}
	p.Points, p.Ranks, p.UsedMS, p.MostMS = slices.Clone(rec.Scores), contest.Ranks(rec.Scores), []float64{1, 1}, []float64{1, 1}
	if d.note != nil {
		d.note(p)
	}
	return rec, nil
}

// swap gives the game to the other entrant.
func swap(r *match.Played) {
	slices.Reverse(r.Points)
	slices.Reverse(r.Ranks)
}

// TestForgedGamesDoNotCount: a game is void if its record does not prove what was noted, whether the contest noted
// something else, or somebody has changed the journal or the record since. The others count.
func TestForgedGamesDoNotCount(t *testing.T) {
	lies := open(t, t.TempDir(), drawn{swap, letter}, "a", "b", "c")
	require.NoError(t, lies.Play(t.Context()))
	require.Len(t, lies.Report().Void, 6)
	require.Contains(t, lies.Report().Void[0], " points, ")
	require.Zero(t, lies.Report().Players[0].Games)

	dir := t.TempDir()
	honest := drawn{name: letter}
	tour := open(t, dir, honest, "a", "b", "c")
	require.NoError(t, tour.Play(t.Context()))
	require.Empty(t, tour.Report().Void)
	require.NotContains(t, tour.Report().String(), "does not count")
	require.NoError(t, tour.Journal.Close())
	journal, first := filepath.Join(dir, journalFile), filepath.Join(dir, RecordFile(0))
	lines := envtest.Must(os.ReadFile(journal))
	game := envtest.Must(os.ReadFile(first))
	second := envtest.Must(os.ReadFile(filepath.Join(dir, RecordFile(1))))
	note := func() {
		p := tour.Played[0]
		p.Ranks = []int{p.Ranks[1], p.Ranks[0]}
		_, rest, _ := strings.Cut(string(lines), "\n")
		require.NoError(t, os.WriteFile(journal, []byte(string(envtest.Must(json.Marshal(p)))+"\n"+rest), 0o600))
	}
	rewrite := func(change func(*record.Record)) func() {
		return func() {
			rec := envtest.Must(readRecord(first))
			change(rec)
			w := envtest.Must(record.Create(first))
			require.NoError(t, w.Write(rec))
			require.NoError(t, w.Close())
		}
	}
	for why, forge := range map[string]func(){
		" have the ranks ":         note,
		"its record is of another": func() { require.NoError(t, os.WriteFile(first, second, 0o600)) },
		`between ["b" "a"]`:        rewrite(func(r *record.Record) { slices.Reverse(r.Agents) }),
		"differs from the record":  rewrite(func(r *record.Record) { slices.Reverse(r.Scores) }),
		"of another game: ":        rewrite(func(r *record.Record) { r.Start = envtest.Must(env.Encode(nil, blocking.New(2, 7))) }),
		"it has no record":         func() { require.NoError(t, os.Remove(first)) },
	} {
		forge()
		again := open(t, dir, honest, "a", "b", "c")
		require.NoError(t, again.Play(t.Context()))
		r := again.Report()
		require.Equal(t, []int{1, 5}, []int{len(r.Void), r.Games}, why)
		envtest.Has(t, r.Void[0], "game 1: ", why)
		require.Contains(t, r.String(), "does not count: game 1: ")
		require.Contains(t, pageOf(dir), "does not count: ")
		require.NoError(t, again.Journal.Close())
		require.NoError(t, os.WriteFile(journal, lines, 0o600))
		require.NoError(t, os.WriteFile(first, game, 0o600))
	}
}

var formats = []Format{RoundRobin, Swiss, Ladder}

// FuzzJournal opens any text as the journal of a tournament: refused with its line, or games after which the plan, the
// table and the page of the tournament follow.
func FuzzJournal(f *testing.F) {
	for format := range formats {
		f.Add(uint8(format), "")
		text := ""
		for _, g := range simulate(f, configOf(uint8(format)), 4, nil).Played {
			text += string(envtest.Must(json.Marshal(g))) + "\n"
		}
		f.Add(uint8(format), text)
		f.Add(uint8(format), `{"number":0,"seats":[0,9],"points":[1],"ranks":[],"used_ms":[],"longest_ms":null}`+"\n")
	}
	f.Fuzz(func(t *testing.T, format uint8, text string) {
		dir := t.TempDir()
		c := configOf(format)
		entrants := []*Entrant{{Name: "a"}, {Name: "b"}, {Name: "c"}, {Name: "d"}}
		require.NoError(t, envtest.Must(openJournal(dir, &c, "", entrants)).Close())
		require.NoError(t, os.WriteFile(filepath.Join(dir, journalFile), []byte(text), 0o600))
		j, err := openJournal(dir, &c, "", entrants)
		if err != nil {
			require.ErrorContains(t, err, journalFile)
			return
		}
		defer func() { require.NoError(t, j.Close()) }()
		tour := &Tournament{Config: c, Entrants: entrants, Journal: j, Played: j.Played}
		p := &plan{&tour.Config, []int{0, 1, 2, 3}}
		p.next(tour.Played)
		p.expected(tour.Played)
		require.Len(t, tour.Report().Players, 4)
		require.NoError(t, tour.WritePage(dir))
		require.NotEmpty(t, tour.Report().String())
	})
}

// A journal is read up to a limit, whatever it holds.
func TestJournalIsBounded(t *testing.T) {
	for name, want := range map[string]string{
		journalFile: "journal.jsonl: line 1: more than 1048576 bytes",
		headFile:    "tournament.json has more than 67108864 bytes",
	} {
		dir := t.TempDir()
		c := configOf(0)
		entrants := []*Entrant{{Name: "a"}, {Name: "b"}}
		require.NoError(t, envtest.Must(openJournal(dir, &c, "", entrants)).Close())
		require.NoError(t, os.WriteFile(filepath.Join(dir, journalFile), []byte(" "), 0o600))
		require.NoError(t, os.Truncate(filepath.Join(dir, name), 1<<32)) // takes no space
		require.ErrorContains(t, envtest.Failed(openJournal(dir, &c, "", entrants)), want)
	}
}

func configOf(format uint8) Config {
	return Config{Rules: blocking.Game, Format: formats[int(format)%len(formats)], Seats: 2, Games: 2, Finals: 1}
}

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

	other := envtest.Failed(openJournal(dir, &tour.Config, "", tour.Entrants))
	require.ErrorContains(t, other, "another process plays in "+dir)
	require.NoError(t, tour.Journal.Close())
	for says, entrants := range map[string][]*Entrant{
		"c is new, b is missing: name another folder": {{Name: "a"}, {Name: "c"}},
		"b has changed: ":           {{Name: "a"}, {Name: "b", Fingerprint: "other"}},
		"their order has changed: ": {{Name: "b"}, {Name: "a"}},
	} {
		require.ErrorContains(t, envtest.Failed(openJournal(dir, &tour.Config, "", entrants)), "is of other entrants: "+says)
	}
	require.NoError(t, open(t, dir, fixed{func() error { return nil }}, "a", "b").Play(t.Context()))
	require.Contains(t, page(), ">finished<")
}

// TestThePageOnAPhone: the table and the links of every game have room, also beside long names and reasons.
func TestThePageOnAPhone(t *testing.T) {
	dir := t.TempDir()
	tour := open(t, dir, fixed{func() error { return nil }}, strings.Repeat("longname", 9), "b", "c")
	require.NoError(t, tour.Play(t.Context()))
	for _, g := range tour.Played {
		put(t, filepath.Join(dir, LogFile(g.Number)), "")
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
