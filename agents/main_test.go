package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"blockyard/agents/match"
	"blockyard/datasets/record"
	"blockyard/env/games"
)

// agents runs a command line and returns its status, output and errors.
func agents(ctx context.Context, line string) (int, string, string) {
	var out, errs bytes.Buffer
	status := run(ctx, strings.Fields(line), &console{strings.NewReader(""), &out, &errs})
	return status, out.String(), errs.String()
}

func TestHelpNamesEveryCommand(t *testing.T) {
	status, out, _ := agents(context.Background(), "--help")
	require.Zero(t, status)
	for _, want := range []string{"A PLAYER is", "arena ", "play ", "sign "} {
		require.Contains(t, out, want)
	}
	status, out, _ = agents(context.Background(), "arena --help")
	require.Zero(t, status)
	for _, want := range []string{"--a=PLAYER", "--sprt=", "--json", "95 % interval", "Default 400."} {
		require.Contains(t, out, want)
	}
}

func TestBadUsageIsStatus2AndSaysWhy(t *testing.T) {
	for line, want := range map[string]string{
		"":                                     "expected one of",
		"arne":                                 "unexpected argument arne",
		"arena blockbattle --a first":          "missing flags: --b=PLAYER",
		"arena tetris --a first --b first":     `no game "tetris"; there are blockbattle`,
		"arena blockbattle --a fist --b first": `unknown player "fist"; blockbattle has`,
		"arena blockbattle --a first --b first --games 3":            "want an even number",
		"arena blockbattle --a first --b first --games 0":            "want an even number",
		"arena blockbattle --a first --b first --workers -1":         "--workers",
		"arena blockbattle --a first --b first --sprt 5":             "want ELO0,ELO1",
		"arena blockbattle --a first --b first --sprt 5,x":           `"x" is not a number`,
		"arena blockbattle --a first --b first --sprt 5,0":           "want the first below the second",
		"arena blockbattle --a first --b first --sprt 0,5,0.05,0.7":  "alpha 0.05 and beta 0.7",
		"play blockbattle --agent first --agent first --agent first": "3 seats, want 2 to 2",
		"play blockbattle --seats 2 -a first -a first -a random":     "3 players for 2 seats",
		"play blockbattle --agent nobody":                            `unknown player "nobody"`,
		"sign chess":                                                 `no game "chess"`,
		"sign blockbattle --games 0":                                 "want a number from 1",
	} {
		status, out, errs := agents(context.Background(), line)
		require.Equal(t, 2, status, line)
		require.Contains(t, errs, want, line)
		require.Empty(t, out, line)
	}
}

func TestArenaPrintsOneLineOfJSON(t *testing.T) {
	status, out, errs := agents(context.Background(), "arena blockbattle --a random --b random --games 60 --seed 7 --json")
	require.Zero(t, status, errs)
	require.Empty(t, errs, "no bar where there is no terminal")
	require.Equal(t, 1, strings.Count(out, "\n"))
	var got struct {
		Games, Wins, Draws, Losses int
		Score, Low, High, Elo      *float64
		Pairs                      match.Pairs
	}
	require.NoError(t, json.Unmarshal([]byte(out), &got))
	require.Equal(t, 60, got.Games)
	require.Equal(t, 60, got.Wins+got.Draws+got.Losses)
	require.InDelta(t, (float64(got.Wins)+float64(got.Draws)/2)/60, *got.Score, 1e-12)
	low, high := got.Pairs.Interval()
	require.Equal(t, []float64{low, high}, []float64{*got.Low, *got.High})
	require.Less(t, *got.Low, *got.Score)
	require.InDelta(t, match.Elo(*got.Score), *got.Elo, 1e-9)

	_, again, _ := agents(context.Background(), "arena blockbattle --a random --b random --games 60 --seed 7 --json --workers 1")
	require.Equal(t, out, again)
}

func TestArenaPrintsForPeople(t *testing.T) {
	status, out, errs := agents(context.Background(), "arena blockbattle --a random --b first --games 20 --seed 7")
	require.Zero(t, status, errs)
	require.Equal(t, `blockbattle: random against first, seed 7
games   20: 20 wins, 0 draws, 0 losses
pairs   0 lost, 0 at ½, 0 at 1, 0 at 1½, 10 won
score   100.00 %, 95 % interval 69.15 to 100.00
Elo     +636, 95 % interval +140 to +636
`, out)
	_, out, _ = agents(context.Background(), "arena blockbattle --a random --b first --games 2000 --sprt 0,200")
	require.Contains(t, out, "SPRT    Elo 0 against 200: LLR")
	require.Contains(t, out, ": H1\n")
}

func TestArenaRecordsGamesThatReplay(t *testing.T) {
	path := filepath.Join(t.TempDir(), "games.jsonl.gz")
	status, _, errs := agents(context.Background(), "arena blockbattle:classic --a random --b first --games 6 --json --record "+path)
	require.Zero(t, status, errs)
	require.Len(t, checked(t, path), 6)
}

// checked reads a file of records and replays them.
func checked(t *testing.T, path string) []*record.Record {
	t.Helper()
	r, err := record.Open(path)
	require.NoError(t, err)
	defer r.Close()
	var list []*record.Record
	for rec, err := range r.All() {
		require.NoError(t, err)
		g, err := games.Lookup(rec.Game)
		require.NoError(t, err)
		require.NoError(t, record.Check(g, rec))
		list = append(list, rec)
	}
	return list
}

func TestCtrlCEndsTheArenaWithWhatWasPlayed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "games.jsonl")
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	status, out, errs := agents(ctx, "arena blockbattle --a random --b random --games 100000000 --json --record "+path)
	require.Zero(t, status, errs)
	var got match.TwoPlayerReport
	require.NoError(t, json.Unmarshal([]byte(out), &got))
	require.True(t, got.Stopped)
	require.Positive(t, got.Games)
	require.Len(t, checked(t, path), got.Games)
}

func TestPlayShowsAndRecords(t *testing.T) {
	path := filepath.Join(t.TempDir(), "one.jsonl")
	status, out, errs := agents(context.Background(), "play blockbattle -a random -a first --seed 4 --show --record "+path)
	require.Zero(t, status, errs)
	require.Contains(t, out, "round 1  piece ")
	require.Contains(t, out, "seat 1 plays r0 x0")
	list := checked(t, path)
	require.Len(t, list, 1)
	require.Equal(t, len(list[0].Choices)/2+1, strings.Count(out, "player1  "), "every position and the last")
	require.Contains(t, out, "seat 1  score 0  result -1  first\n")

	status, out, _ = agents(context.Background(), "play blockbattle -a first --seed 4 --record "+path)
	require.Zero(t, status)
	require.NotContains(t, out, "round")
	require.Len(t, checked(t, path), 2, "appended")
}

func TestCtrlCKeepsTheGameSoFar(t *testing.T) {
	path := filepath.Join(t.TempDir(), "one.jsonl")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	status, out, _ := agents(ctx, "play blockbattle -a first --record "+path)
	require.Zero(t, status)
	require.Contains(t, out, "stopped early")
	require.True(t, checked(t, path)[0].Stopped)
}

func TestSignaturesTellPlayersApartAndStay(t *testing.T) {
	var lines []string
	for range 2 {
		var b bytes.Buffer
		for _, name := range []string{"random", "first", "terms6"} {
			require.NoError(t, signature(context.Background(), &b, games.All[0], name, 1))
		}
		lines = append(lines, b.String())
	}
	require.Equal(t, lines[0], lines[1])
	hashes := map[string]bool{}
	for _, l := range strings.Split(strings.TrimSpace(lines[0]), "\n") {
		fields := strings.Fields(l)
		hashes[fields[len(fields)-1]] = true
	}
	require.Len(t, hashes, 3)
}

func TestAFullDiskIsAnError(t *testing.T) {
	var errs bytes.Buffer
	con := &console{strings.NewReader(""), broken{}, &errs}
	require.Equal(t, 1, run(context.Background(), strings.Fields("arena blockbattle --a first --b first --games 2"), con))
	require.Contains(t, errs.String(), "disk full")
}

// broken is a writer that fails.
type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("disk full") }
