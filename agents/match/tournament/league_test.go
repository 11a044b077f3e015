package tournament

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"blockyard/agents/bots"
	"blockyard/agents/contest"
	"blockyard/agents/contest/cage"
	"blockyard/agents/contest/compile"
	"blockyard/agents/match"
	"blockyard/agents/match/series"
	"blockyard/env/blockbattle"
	"blockyard/env/blocking"
	"blockyard/env/envtest"
)

// openLeague returns a league in a folder whose entrants are ready without a test, and play at random.
func openLeague(t *testing.T, dir string) *League {
	subs := filepath.Join(dir, SubmissionsDir)
	require.NoError(t, os.MkdirAll(subs, 0o755))
	j := envtest.Closing(t, envtest.Must(OpenJournal(dir)))
	l := &League{Dir: dir, Tell: func(string, ...any) {}}
	l.Tournament = &Tournament{Journal: j, Config: Config{Rules: blocking.Game, Format: Ongoing, Seats: 2, Games: 2, Seed: 1}}
	l.Runner = drawn{name: func(e int) string { return l.Entrants[e].Agent }}
	_, l.Entrants = envtest.Must2(j.Kept())
	require.NoError(t, j.Begin(&l.Config, "", l.Entrants))
	l.List = func() ([]*bots.Agent, error) { return Submissions(blocking.Game, subs) }
	l.Ready = func(_ context.Context, e *Entrant, _ []*Entrant) error { return os.MkdirAll(e.into, 0o755) }
	l.Changed = func(t *Tournament) error { return t.WritePage(dir) }
	return l
}

// opened returns a league that has begun to look at its folder.
func opened(t *testing.T, dir string) *League {
	l := openLeague(t, dir)
	require.NoError(t, l.open())
	return l
}

// look looks at the folder of a league, and waits each time until all is ready that it has found.
func look(t *testing.T, l *League, times int) {
	for range times {
		l.look(t.Context(), envtest.Must(l.List()))
		l.running.Wait()
		require.NoError(t, l.admit())
	}
}

// write writes a file of a submission.
func write(t *testing.T, l *League, name, text string) string {
	path := filepath.Join(l.Dir, SubmissionsDir, filepath.FromSlash(name))
	put(t, path, text)
	return path
}

// put writes a file into a folder that need not be there yet.
func put(t *testing.T, path, text string) {
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
}

// submit writes files of submissions, each of which holds its name, and looks until they are known as they are.
func submit(t *testing.T, l *League, names ...string) {
	for _, name := range names {
		write(t, l, name, name)
	}
	look(t, l, 2)
}

// before lets something happen before each entrant is made ready.
func before(l *League, do func(e *Entrant)) {
	ready := l.Ready
	l.Ready = func(ctx context.Context, e *Entrant, all []*Entrant) error {
		do(e)
		return ready(ctx, e, all)
	}
}

// playTo plays a league until it has so many games.
func playTo(t *testing.T, l *League, games int) {
	l.Limit = games
	l.next = func() []match.Played {
		if l.over(t.Context()) {
			return nil
		}
		return l.games()
	}
	require.NoError(t, l.Tournament.Play(t.Context()))
}

// here lists the names of those that play.
func here(l *League) (names []string) {
	for _, k := range l.playing() {
		names = append(names, l.Entrants[k].Name)
	}
	return names
}

// TestVersions: a version is known by its content, has a name of its own, and keeps the dialect that its test has found.
// What comes instead of a file with another ending is a version too; what is no part of a bot changes nothing.
func TestVersions(t *testing.T) {
	for name, c := range map[string]struct {
		entrants int
		steps    [][2]string // which files change, those without a text are removed, and who plays then
	}{
		"versions are back, one leaves": {4, [][2]string{
			{"a.py=1", "a"},
			{"a.c=123", "a, a (2)"},
			{"a.py=22", "a (2), a v2"},
			{"a.py=333", "a (2), a v3"},
			{"a.py=22", "a (2), a v2"},
			{"a.py=1", "a, a (2)"},
			{"a.py=", "a (2)"},
		}},
		"other endings":    {3, [][2]string{{"a.py=1", "a"}, {"a.py= a.zip=2", "a v2"}, {"a.zip= a.tar.gz=3", "a v3"}}},
		"no part of a bot": {1, [][2]string{{"a/bot.py=1", "a"}, {"a/__pycache__/bot.pyc=2 __pycache__/a.pyc=3", "a"}}},
	} {
		t.Run(name, func(t *testing.T) {
			l := opened(t, t.TempDir())
			before(l, func(e *Entrant) {
				if !e.Tested() {
					e.Dialect = "port"
				}
			})
			playing := func() string { return strings.Join(here(l), ", ") }
			for _, s := range c.steps {
				for _, change := range strings.Fields(s[0]) {
					name, text, _ := strings.Cut(change, "=")
					if path := write(t, l, name, text); text == "" {
						require.NoError(t, os.Remove(path))
					}
				}
				look(t, l, 3)
				require.Equal(t, s[1], playing())
				for _, k := range l.playing() {
					require.Equal(t, "port", l.Entrants[k].Dialect)
				}
				require.Len(t, envtest.Must(os.ReadDir(filepath.Join(l.Dir, BuildDir))), len(here(l)), "of those that play")
			}
			require.Len(t, l.Entrants, c.entrants)
			require.NoError(t, l.Journal.Close())
			l = opened(t, l.Dir)
			look(t, l, 2)
			require.Equal(t, c.steps[len(c.steps)-1][1], playing(), "by the journal")
			require.Len(t, l.Entrants, c.entrants)
		})
	}
}

// TestWhoIsBeingCopied: nobody is taken whose files have just come or changed.
func TestWhoIsBeingCopied(t *testing.T) {
	l := opened(t, t.TempDir())
	write(t, l, "a.py", "1")
	write(t, l, "a.c", "1")
	look(t, l, 1)
	require.Empty(t, here(l), "seen once")
	l.Until = envtest.Stopped(t).Done()
	require.Nil(t, l.comes(t.Context()), "it does not wait any more")
	write(t, l, "a.c", "123")
	look(t, l, 1)
	require.Equal(t, []string{"a"}, here(l), "a.c changes")
	look(t, l, 1)
	require.Equal(t, []string{"a", "a (2)"}, here(l))
}

// TestWhoIsContained: commands are, and do not see who comes after them; agents of this program are not.
func TestWhoIsContained(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	l := opened(t, "league")
	require.NoError(t, os.WriteFile("secret", nil, 0o600))
	texts := []string{"random", "one=exec:cat"}
	l.List = func() (list []*bots.Agent, err error) {
		for _, text := range texts {
			list = append(list, envtest.Must(bots.Parse(blocking.Game, bots.Own(text))))
		}
		return list, nil
	}
	l.Ready = func(ctx context.Context, e *Entrant, all []*Entrant) error {
		return e.Prepare(ctx, l.Dir, compile.Default, 0, all)
	}
	look(t, l, 2)
	texts = append(texts, "two=exec:cat ./secret")
	look(t, l, 2)
	hides := map[string][]string{"random": nil}
	for _, e := range l.Entrants {
		if c, ok := e.Program.Cage.(*cage.Cage); ok {
			hides[e.Name] = c.Hidden
		}
	}
	secret, league := filepath.Join(dir, "secret"), filepath.Join(dir, "league")
	require.Equal(t, map[string][]string{"random": nil, "one": {league, secret}, "two": {league}}, hides)
}

// TestPairsOfALeague: two games with the same seed and the seats swapped, also if it was stopped between them. Who is not
// there meets nobody, and the number of games is kept.
func TestPairsOfALeague(t *testing.T) {
	dir := t.TempDir()
	for _, games := range []int{3, 9} {
		l := opened(t, dir)
		submit(t, l, "a.py", "b.py", "c.py")
		l.Played = l.Journal.Played
		playTo(t, l, games)
		require.Len(t, l.Played, games)
		for k := 1; k < games; k += 2 {
			require.Equal(t, l.Played[k-1].Seed, l.Played[k].Seed)
			require.Equal(t, swapped(l.Played[k-1].Seats), l.Played[k].Seats)
			require.Equal(t, k-1, l.Played[k].Unit)
		}
		l.Entrants[0].Left = true
		for _, g := range l.games() {
			require.NotContains(t, g.Seats, 0)
		}
		l.Entrants[0].Left = false
		require.NoError(t, l.Journal.Close())
	}
	for _, bad := range []match.Played{{Seats: []int{0, 0}}, {Seats: []int{0, 3}}, {Seats: []int{-1, 0}}, {Seats: []int{0}},
		{Seats: []int{0, 1}, Stage: "final"}} {
		require.Error(t, leaguePolicy{}.verify(&bad, &Config{}, make([]*Entrant, 3), dir), "%+v", bad)
	}
}

// TestNobodyIsLeftOut: a league that has played its games ends after the tests of those who are there, and they are in
// its table.
func TestNobodyIsLeftOut(t *testing.T) {
	l := openLeague(t, t.TempDir())
	for _, name := range []string{"a.py", "b.py", "slow.py", "bad.py"} {
		write(t, l, name, name)
	}
	l.Limit, l.Workers, l.Here = 2, 1, 4
	played, enough := context.WithCancel(t.Context())
	before(l, func(e *Entrant) {
		if e.Name == "slow" || e.Name == "bad" {
			<-played.Done()
		}
		if e.Name == "bad" {
			e.refuse("no", "")
		}
	})
	l.Changed = func(t *Tournament) error {
		if len(t.Played) == l.Limit {
			enough()
		}
		return nil
	}
	require.NoError(t, l.Play(t.Context()))
	require.Len(t, l.Played, 2)
	require.ElementsMatch(t, []string{"a", "b", "slow"}, here(l))
	require.Len(t, l.Report().Refused, 1)

	require.NoError(t, l.Journal.Close())
	again := openLeague(t, l.Dir)
	again.Limit, again.List = 2, func() ([]*bots.Agent, error) { return nil, errors.New("no list") }
	require.NoError(t, again.Play(t.Context()))
	require.Len(t, again.Played, 2)
}

// TestRepeatedGamesCountOnce in the table and the ratings, also when the journal is read again.
func TestRepeatedGamesCountOnce(t *testing.T) {
	dir := t.TempDir()
	l := openLeague(t, dir)
	l.Entrants = []*Entrant{{Name: "a", Agent: "same"}, {Name: "b", Agent: "same"}} // with swapped seats, they play alike
	require.NoError(t, l.Journal.enter(l.Entrants))
	l.Limit = 4
	l.next = func() []match.Played {
		if n := len(l.Played); n < l.Limit {
			return []match.Played{l.nextOf(l.Played, stageLeague, []int{n % 2, 1 - n%2})}
		}
		return nil
	}
	require.NoError(t, l.Tournament.Play(t.Context()))
	r := l.Report()
	require.Equal(t, []int{2, 2}, []int{r.Games, r.Repeated})
	require.Equal(t, 2, r.Players[0].Total())
	require.Contains(t, r.String(), "2 more games repeat one of them")
	require.Contains(t, pageOf(dir), "repeats game 1, counts once")
	require.NoError(t, l.Journal.Close())
	again := openLeague(t, dir)
	again.Played = again.Journal.Played
	require.Equal(t, r.Meetings, again.Report().Meetings)
	require.Equal(t, 2, again.Report().Repeated)
}

// TestNamesOfAnyBytes: a submission is the same entrant after a restart, whatever bytes are in its name.
func TestNamesOfAnyBytes(t *testing.T) {
	dir := t.TempDir()
	names := []string{strings.Repeat("x", 250) + ".py", "a\x1b[2J\nb.py", "\xff.py"}
	var first []string
	for range 2 {
		l := opened(t, dir)
		submit(t, l, names...)
		if first == nil {
			first = here(l)
		}
		require.Len(t, l.Entrants, len(names))
		require.ElementsMatch(t, first, here(l))
		envtest.Harmless(t, strings.Join(here(l), ""))
		require.NoError(t, l.Journal.Close())
	}
}

// TestWhatCannotBeRead is refused, and taken again when its files or their permissions have changed. So is an archive
// that was copied so slowly that it was read in between.
func TestWhatCannotBeRead(t *testing.T) {
	l := opened(t, t.TempDir())
	path := filepath.Join(l.Dir, SubmissionsDir, "a.py")
	l.List = func() ([]*bots.Agent, error) { return []*bots.Agent{bots.Submitted(blocking.Game, path)}, nil }
	l.Ready = func(_ context.Context, e *Entrant, _ []*Entrant) error {
		text, err := os.ReadFile(path)
		if err == nil && string(text) != "whole" {
			e.refuse("not an archive", "")
		}
		return errors.Join(err, os.MkdirAll(e.into, 0o755))
	}
	look(t, l, 2)
	require.Contains(t, l.Entrants[0].Refused, "cannot be made ready: ")
	for _, part := range []string{"w", "who"} {
		write(t, l, "a.py", part)
		look(t, l, 2)
		require.Contains(t, l.Report().Refused[0].Refused, "not an archive")
	}
	require.NoError(t, l.Journal.Close())
	again := openLeague(t, l.Dir)
	again.List, again.Ready, l = l.List, l.Ready, again
	require.NoError(t, l.open())
	write(t, l, "a.py", "whole")
	look(t, l, 2)
	require.Equal(t, []string{"a"}, here(l), "what was read too early has used up no version")
	require.Len(t, l.Entrants, 1)
	require.Empty(t, l.Report().Refused)
	before := sign(l.Entrants[0].from)
	require.NoError(t, os.Chmod(path, 0))
	require.NotEqual(t, before, sign(l.Entrants[0].from))
}

// TestReplacedWhileItIsTested: what was tested is not what is there, so that it does not play, and its name is free.
func TestReplacedWhileItIsTested(t *testing.T) {
	l := opened(t, t.TempDir())
	write(t, l, "a.py", "1")
	replace := sync.OnceFunc(func() { write(t, l, "a.py", "22") })
	before(l, func(*Entrant) { replace() })
	for range 2 {
		look(t, l, 1)
		require.Empty(t, here(l))
	}
	look(t, l, 2)
	require.Equal(t, []string{"a"}, here(l))
}

// TestStoppedWhileItWaits: a league without entrants waits, and is stopped, not over, when it is interrupted.
func TestStoppedWhileItWaits(t *testing.T) {
	l := openLeague(t, t.TempDir())
	ended, end := context.WithCancel(t.Context())
	l.Tell = func(string, ...any) { end() }
	require.ErrorIs(t, l.Play(ended), context.Canceled)
	require.Contains(t, pageOf(l.Dir), ">stopped<")

	l = openLeague(t, t.TempDir())
	l.Until = ended.Done()
	require.NoError(t, l.Play(t.Context()))
	require.False(t, l.Report().Over, "it can go on")
}

// TestReplacedBeforeItsTest: who was replaced while it waited for its turn is neither compiled nor tested.
func TestReplacedBeforeItsTest(t *testing.T) {
	l := opened(t, t.TempDir())
	l.places <- struct{}{}
	path := write(t, l, "a.py", "1")
	var tested []string
	before(l, func(e *Entrant) { tested = append(tested, e.Name) })
	for _, text := range []string{"22", "333"} {
		for range 2 {
			l.look(t.Context(), []*bots.Agent{bots.Submitted(blocking.Game, path)})
		}
		write(t, l, "a.py", text)
	}
	<-l.places
	l.running.Wait()
	require.Empty(t, tested)
	look(t, l, 2)
	require.Equal(t, []string{"a"}, tested)
	require.Equal(t, tested, here(l))
}

// TestCandidateThatCannotBeKept: what was played is what is kept, and no other submission is replaced. The next try
// goes on.
func TestCandidateThatCannotBeKept(t *testing.T) {
	l := openLeague(t, t.TempDir())
	path := filepath.Join(t.TempDir(), "a.py")
	change := func(text string) { require.NoError(t, os.WriteFile(path, []byte(text), 0o600)) }
	try := func() (*Trial, error) {
		return l.Try(t.Context(), bots.Submitted(blocking.Game, path), "best", &match.SPRT{Elo1: 50, Alpha: 0.05, Beta: 0.05}, 10)
	}
	change("1")
	ready := l.Ready
	before(l, func(*Entrant) { change("22") })
	_, err := l.Try(t.Context(), bots.Submitted(blocking.Game, "README.zip"), "best", &match.SPRT{}, 10)
	require.ErrorContains(t, err, "README.zip is the name of a note")
	require.ErrorContains(t, envtest.Failed(try()), "has changed while it was played")
	l.Ready = ready
	change("1")
	l.List = func() ([]*bots.Agent, error) { return nil, nil }
	there := filepath.Join(l.Dir, SubmissionsDir, "a")
	require.NoError(t, os.Mkdir(there, 0o755))
	require.ErrorContains(t, envtest.Failed(try()), "which is there: move that away and try again")
	require.NoError(t, os.Remove(there))
	got := envtest.Must(try())
	require.Equal(t, []any{"a", Kept, "submissions/a"}, []any{got.Candidate, got.Decision, got.Place})
	require.FileExists(t, filepath.Join(there, "a.py"))
	require.Len(t, envtest.Must(os.ReadDir(filepath.Dir(there))), 1, "no part is left behind")
}

// TestPairsOfACandidate: the second game of a pair that was interrupted is played only if both are there.
func TestPairsOfACandidate(t *testing.T) {
	l := openLeague(t, t.TempDir())
	l.Played = []match.Played{{Stage: stageTry, Seats: []int{2, 0}}}
	whole := l.inPairs(stageTry, []int{0, 1, 2}, [][]int{{2, 1}})
	require.Equal(t, []int{0, 2}, whole[0].Seats)
	for _, pair := range [][]match.Played{whole[1:], l.inPairs(stageTry, []int{1, 2}, [][]int{{2, 1}})} {
		require.Equal(t, [][]int{{2, 1}, {1, 2}}, [][]int{pair[0].Seats, pair[1].Seats})
		require.Len(t, pair, 2)
	}
}

// botOf is an entrant in Python.
func botOf(t *testing.T, text string) *Entrant {
	path := envtest.File(t, "bot.py", text)
	return &Entrant{Name: "bot", Program: contest.Program{Argv: []string{"python3", "-u", path}, Cage: contest.Trusted}}
}

// answering is a bot of Block Battle that answers with an expression, in which n counts the requests and me is its name.
const answering = "import sys\nn, me = 0, ''\nfor line in sys.stdin:\n    words = line.split()\n" +
	"    if words[1:2] == ['your_bot']: me = words[2]\n    if words[0] == 'action':\n        n += 1\n        print(%s)\n"

// testGame is how test games of Block Battle are played, and against whom.
func testGame(t *testing.T) (series.Lines, contest.Program) {
	rules := bots.Of(blockbattle.Game).Host
	setup := envtest.Must(rules.Open(blockbattle.Game, envtest.Must(rules.Settings(nil))))
	m := series.Lines{Rules: blockbattle.Game, Setup: setup, Strict: true, Losses: rules.Losses}
	return m, botOf(t, fmt.Sprintf(answering, "'drop'")).Program
}

// TestLegalAnswersAreNoNonsense: only what cannot be read is, and a bot takes part if it plays in one of the seats.
func TestLegalAnswersAreNoNonsense(t *testing.T) {
	m, rival := testGame(t)
	for answer, why := range map[string]string{
		"'left,left'": "", "'no_moves'": "", "''": "", "'skip'": "", "'left,banana,drop'": "", "'drop,left'": "",
		"'drop' if me == 'player2' else sys.exit(1)": "",
		"'left' if n == 1 else 'banana'":             "answers nonsense: ",
		"'left;drop'":                                "cannot be read, such as \"left;drop\": unknown token",
		"[][0]":                                      "IndexError: list index out of range",
	} {
		e := botOf(t, fmt.Sprintf(answering, answer))
		require.NoError(t, TestLines(t.Context(), m, rival, e))
		require.Contains(t, e.Refused, why, answer)
		require.Equal(t, why == "", e.Refused == "", "%s: %s", answer, e.Refused)
		require.NotContains(t, e.Refused, "--dialect")
	}
}

// dialectal is a bot of Block Battle that knows one dialect only: what the request begins with, and a word of it.
const dialectal = "import sys\nfor line in sys.stdin:\n    if line.startswith('%s'): sys.exit('what is this?')\n" +
	"    if line.startswith('%s'): print('drop', flush=True)\n"

// TestDialects: the test finds the dialect of a bot that does not say which it speaks, and bots of different dialects
// play each other.
func TestDialects(t *testing.T) {
	m, rival := testGame(t)
	all := []*Entrant{
		botOf(t, fmt.Sprintf(dialectal, "settings time_bank", "action moves")),
		botOf(t, fmt.Sprintf(dialectal, "settings player_names player1", "action move ")),
		botOf(t, fmt.Sprintf(dialectal, "settings timebank", "action moves")),
	}
	for k, e := range all {
		require.NoError(t, TestLines(t.Context(), m, rival, e))
		require.Empty(t, e.Refused)
		require.Equal(t, []string{"", "port", "beta"}[k], e.Dialect)
	}
	m.Player = func(number int) contest.Player { return all[number].Player() }
	for _, seats := range [][]int{{0, 1}, {1, 2}, {2, 0}} {
		g := match.Played{Seed: "1", Seats: seats}
		envtest.Must(m.Play(t.Context(), &g))
		require.Positive(t, g.Tallies[0].Answers)
		require.Equal(t, []int{0, 0}, []int{g.Tallies[0].Remarks, g.Tallies[1].Remarks}, "%v", g.Tallies)
	}
	says := botOf(t, fmt.Sprintf(dialectal, "settings player_names player1", "action move "))
	says.Program.Dialect = "port"
	require.NoError(t, TestLines(t.Context(), m, rival, says))
	require.Empty(t, says.Refused+says.Dialect)
	says.Program.Dialect = "welsh"
	require.NoError(t, TestLines(t.Context(), m, rival, says))
	require.Contains(t, says.Refused, `does not start: dialect "welsh": want classic, port or beta`)
}

// TestTheClockOfTheContest is that of the test, and there is no limit of a turn.
func TestTheClockOfTheContest(t *testing.T) {
	e := botOf(t, "import sys\nprint('left' if float(sys.argv[2]) > 250 else 'no')\n")
	require.NoError(t, TestTurns(t.Context(), 5*time.Minute, e))
	require.Empty(t, e.Refused)
}
