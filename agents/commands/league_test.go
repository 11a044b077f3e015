package commands

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/match"
	"blockyard/agents/match/tournament"
	"blockyard/env/envtest"
)

// moves is a dropper that moves each piece by so many columns before it drops it.
func moves(dropper string, columns int) string {
	return strings.Replace(dropper, "drop", strings.Repeat("left,", columns)+"drop", 1)
}

// mover is that in C, which starts quickly.
func mover(columns int) string { return moves(entries["dropper.c"], columns) }

func entrantsOf(t *testing.T, dir string) []*tournament.Entrant {
	var head struct{ Entrants []*tournament.Entrant }
	require.NoError(t, json.Unmarshal([]byte(read(filepath.Join(dir, "tournament.json"))), &head))
	return head.Entrants
}

// entrantOf is the entrant with a name, or an empty one if there is none yet.
func entrantOf(t *testing.T, dir, name string) *tournament.Entrant {
	for _, e := range entrantsOf(t, dir) {
		if e.Name == name {
			return e
		}
	}
	return new(tournament.Entrant)
}

// journalOf reads the games of a league and the names of its entrants.
func journalOf(t *testing.T, dir string) (played []match.Played, names []string) {
	for _, e := range entrantsOf(t, dir) {
		names = append(names, e.Name)
	}
	for line := range bytes.Lines(envtest.Must(os.ReadFile(filepath.Join(dir, "journal.jsonl")))) {
		if line[len(line)-1] == '\n' { // else it is being written
			played = append(played, decoded[match.Played](t, string(line)))
		}
	}
	return played, names
}

// hasPlayed reports whether an entrant has played in a game that is not among the first ones.
func hasPlayed(t *testing.T, dir, name string, after int) bool {
	played, names := journalOf(t, dir)
	return slices.ContainsFunc(played[min(after, len(played)):], func(g match.Played) bool {
		return slices.ContainsFunc(g.Seats, func(e int) bool { return names[e] == name })
	})
}

// requirePairs checks the games of a league: each is there once, and both of a pair have one seed and swapped seats.
func requirePairs(t *testing.T, played []match.Played) {
	first := map[string][]int{}
	for k, g := range played {
		require.Equal(t, k, g.Number)
		if seats, ok := first[g.Seed]; ok {
			require.Equal(t, []int{g.Seats[1], g.Seats[0]}, seats)
			seats[0] = -1 // no third one
		} else {
			first[g.Seed] = slices.Clone(g.Seats)
		}
	}
}

// left says of each in the table of a league why it plays no more, "" if it plays.
func left(r *tournament.Report) map[string]string {
	all := map[string]string{}
	for _, s := range r.Players {
		all[s.Name] = s.Left
	}
	return all
}

// TestLeagueWhileItPlays: entrants come, are replaced and leave while games are played. Every version has its own rating,
// who has left plays no more but stays in the table, and who is refused stops nobody.
func TestLeagueWhileItPlays(t *testing.T) {
	dir := t.TempDir()
	subs := filepath.Join(dir, "submissions")
	writeFiles(t, dir, map[string]string{"league.toml": "agents = [\"random\", \"one=first\"]\n", "submissions/README.md": "no bot"})
	league := begin(t, nil, "league blockbattle --json --workers 1 --timebank 1m --dir "+dir)
	present(t, filepath.Join(dir, "tournament.json"))   // the journal is there before it
	plays := func(name string, after int) (games int) { // waits for a game of an entrant
		eventually(t, func() bool { return hasPlayed(t, dir, name, after) })
		return lines(dir)
	}
	plays("one", 0)
	writeFiles(t, subs, map[string]string{"mover.c": mover(0), "broken.cpp": entries["broken.cpp"]})
	plays("mover", 0)
	writeFiles(t, subs, map[string]string{"mover.c": mover(1)})
	at := plays("mover v2", 0)
	writeFiles(t, subs, map[string]string{"mover.c": mover(0)})
	at = plays("mover", at)
	require.NoError(t, os.Remove(filepath.Join(subs, "mover.c")))
	eventually(t, func() bool { return entrantOf(t, dir, "mover").Left && entrantOf(t, dir, "broken").Refused != "" })
	require.Zero(t, league.stop(t))
	page := read(filepath.Join(dir, "index.html"))
	envtest.Has(t, page, "Block Battle <span>league", ">stopped<", "mover <i>left</i>", "does not compile")

	r := decoded[tournament.Report](t, league.out.String())
	require.True(t, slices.IsSortedFunc(r.Players, func(a, b match.Standing) int { return cmp.Compare(b.Elo.Value, a.Elo.Value) }))
	require.Equal(t, map[string]string{"random": "", "one": "", "mover": "left", "mover v2": "left"}, left(&r))
	require.Len(t, r.Refused, 1)
	require.Equal(t, "broken", r.Refused[0].Name)
	played, names := journalOf(t, dir)
	require.ElementsMatch(t, []string{"random", "one", "mover", "mover v2", "broken"}, names)
	require.Equal(t, len(played), r.Games+r.Repeated+len(r.Void))
	require.Greater(t, len(played), at)
	for k := range played {
		checked(t, filepath.Join(dir, tournament.RecordFile(k)))
	}
}

// TestLeagueGoesOnAfterAKill, also in the middle of a line of its journal: every game once, and ratings as from a fresh
// reading of the records.
func TestLeagueGoesOnAfterAKill(t *testing.T) {
	dir := t.TempDir()
	writeFiles(t, dir, map[string]string{"league.toml": "agents = [\"random\", \"first\"]\n",
		"submissions/mover.py": moves(entries["dropper.py"], 1)})
	args := []string{"league", "blockbattle", "--json", "--dir", dir, "--workers", "2", "--timebank", "1m", "--games", "8"}
	for _, games := range []int{1, 4} {
		killAfter(t, games, 8, dir, args...)
		tear(t, dir)
	}
	first := succeeds(t, "", args...)
	played, names := journalOf(t, dir)
	require.Len(t, played, 8)
	require.Len(t, names, 3)
	requirePairs(t, played)
	require.Equal(t, first, succeeds(t, "", args...), "nothing is played again")
}

// TestLeagueTry: the first candidate is kept, a stronger one is kept beside it, a weaker one is rejected, each is
// remembered, and all that was kept plays in the league.
func TestLeagueTry(t *testing.T) {
	dir, bot := t.TempDir(), filepath.Join(t.TempDir(), "bot.c")
	try := func(text, flags string) *tournament.Trial {
		require.NoError(t, os.WriteFile(bot, []byte(text), 0o644))
		if !strings.Contains(flags, "--sprt") {
			flags += " --sprt 0,400,0.2,0.2"
		}
		result := decoded[tournament.Trial](t, succeeds(t, "league try "+bot+" --dir "+dir+" --json --workers 2 --timebank 1m "+flags))
		return &result
	}
	fails(t, 2, "is new: name its game, such as --game blockbattle",
		"league try "+envtest.File(t, "bot.c", mover(0))+" --dir "+dir)

	first := try(mover(0), "--game blockbattle")
	require.Equal(t, []any{"bot", tournament.Kept, "submissions/bot", 0, false},
		[]any{first.Candidate, first.Decision, first.Place, first.Match.Games, first.Before})
	require.True(t, try(mover(0), "").Before)

	spread := strings.Replace(mover(3), `puts("left,left,left,drop")`, `static int k; k = (k + 1) % 5;
printf("left,left,left,"); for (int i = 0; i < 2 * k; i++) printf("right,"); puts("drop")`, 1)
	better := try(spread, "")
	meeting := func(r *tournament.Trial) match.Meeting { return r.Match.Meetings[0] }
	require.Equal(t, []any{"bot v2", tournament.Kept, match.AcceptH1, "submissions/bot-v2", "bot"},
		[]any{better.Candidate, better.Decision, meeting(better).Verdict, better.Place, meeting(better).B})
	require.FileExists(t, filepath.Join(dir, "submissions", "bot-v2", "bot.c"))
	require.Equal(t, "submissions/bot-v2", try(spread, "").Place)

	worse := try(mover(4), "--against kept --sprt 0,200,0.1,0.1")
	require.Equal(t, []any{"bot v3", tournament.Rejected, match.AcceptH0, "bot v2, bot"},
		[]any{worse.Candidate, worse.Decision, meeting(worse).Verdict, meeting(worse).B}, "the strongest first")
	require.True(t, try(mover(4), "").Before)

	short := try(mover(3), "--against bot --games 1 --sprt 0,5")
	require.Equal(t, tournament.Undecided, short.Decision)
	require.Equal(t, 2, short.Match.Games)
	fails(t, 2, "has other settings: settings was \"--timebank 1m\", now \"\": name another folder", "league try "+bot+" --dir "+dir)
	fails(t, 1, "--against nobody: want best, kept, or the name of one that is kept and not refused, of bot v2, bot",
		"league try "+bot+" --timebank 1m --against nobody --dir "+dir)
	played, _ := journalOf(t, dir)
	r := decoded[tournament.Report](t, succeeds(t,
		fmt.Sprintf("league blockbattle --timebank 1m --json --dir %s --games %d", dir, len(played)+2)))
	require.Equal(t, map[string]string{"bot": "", "bot v2": "", "bot v3": "rejected", "bot v4": "undecided"}, left(&r))
	require.Contains(t, read(filepath.Join(dir, "index.html")), "bot v4 <i>undecided</i>")
}

// TestLeagueAuthors: a token is printed once, and is invalid when its author is removed.
func TestLeagueAuthors(t *testing.T) {
	dir := t.TempDir()
	require.Regexp(t, "^[A-Z2-7]{26}\n$", succeeds(t, "league author add ann --dir "+dir))
	fails(t, 1, "ann is an author: remove it first for a new token", "league author add ann --dir "+dir)
	succeeds(t, "league author remove ann --dir "+dir)
	fails(t, 1, "none of "+dir, "league author remove ann --dir "+dir)
}

func TestLeagueUsage(t *testing.T) {
	dir := t.TempDir()
	writeFiles(t, dir, map[string]string{"a/league.toml": "bots = []\n", "b/league.toml": "agents = [\"nobody-here\"]\n",
		"c/submissions/x.py": "print()\n", "c/league.toml": "agents = [\"" + filepath.Join(dir, "c/submissions/x.py") + "\"]\n",
		"e/league.toml": "[[[[\n", "g/league.toml": "agents = [\"x=random\", \"x=first\"]\n", "f/tournament.json": `{"game": "blockbattle"}`})
	misused(t, "league ", map[string]string{
		"blockbattle --dir " + dir + "/a":                             `unknown bots: want agents = [`,
		"blockbattle --dir " + dir + "/b":                             `unknown agent "nobody-here"`,
		"blockbattle --dir " + dir + "/c":                             "is a submission: put it into submissions",
		"blockbattle --dir " + dir + "/e":                             "/e/league.toml: toml: line 1",
		"blockbattle --dir " + dir + "/g":                             "two agents are named x: give one another name, as in other=first",
		"blocking --dir " + dir + "/f":                                "/f is of blockbattle, not of blocking: name another folder",
		"wintetris --dir " + dir + "/d":                               "wintetris has no contest between programs",
		"blockbattle --games=-1 --dir " + dir + "/d":                  "--games -1, --for 0s: want none below 0",
		"try x --game blocking --dir " + dir + "/d":                   "a candidate is an archive, a source file or a folder",
		"try x --sprt 5 --dir " + dir + "/d":                          `--sprt "5": want ELO0,ELO1`,
		"try x --games 0 --dir " + dir + "/d":                         "--games 0: want at least 1",
		"blockbattle --listen :0 --author-bots 0 --dir " + dir + "/d": "--author-bots 0, --author-uploads 12: want at least 1",
		"blockbattle --workers=-1 --dir " + dir + "/d":                "--workers -1: want a number from 1",
		"dropblox --cluster --dir " + dir + "/h":                      "--cluster: agents of dropblox are started for every turn",
		"blockbattle --cluster-listen :0 --dir " + dir + "/d":         "--cluster-listen needs --cluster",
		"blockbattle --budget 3s --dir " + dir + "/d":                 "--budget is no option of this contest",
	})
	envtest.Closing(t, envtest.Must(tournament.OpenJournal(dir)))
	for _, line := range []string{"blockbattle", "try " + filepath.Join(dir, "c/submissions/x.py") + " --game blockbattle"} {
		fails(t, 1, "another process plays in "+dir, "league "+line+" --dir "+dir)
	}
}
