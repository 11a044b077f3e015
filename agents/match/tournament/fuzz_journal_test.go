package tournament

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/env/blocking"
)

var formats = []Format{RoundRobin, Swiss, Ladder}

// FuzzJournal opens any text as the journal of a tournament: refused with its line, or games after which the plan, the
// table and the page of the tournament follow.
func FuzzJournal(f *testing.F) {
	for format := range formats {
		f.Add(uint8(format), "")
		text := ""
		for _, g := range simulate(f, configOf(uint8(format)), 4, nil).Played {
			line, err := json.Marshal(g)
			require.NoError(f, err)
			text += string(line) + "\n"
		}
		f.Add(uint8(format), text)
		f.Add(uint8(format), `{"number":0,"seats":[0,9],"points":[1],"ranks":[],"used_ms":[],"longest_ms":null}`+"\n")
	}
	f.Fuzz(func(t *testing.T, format uint8, text string) {
		dir := t.TempDir()
		c := configOf(format)
		entrants := []*Entrant{{Name: "a"}, {Name: "b"}, {Name: "c"}, {Name: "d"}}
		j, err := openJournal(dir, &c, "", entrants)
		require.NoError(t, err)
		require.NoError(t, j.Close())
		path := filepath.Join(dir, journalFile)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		if j, err = openJournal(dir, &c, "", entrants); err != nil {
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
		j, err := openJournal(dir, &c, "", entrants)
		require.NoError(t, err)
		require.NoError(t, j.Close())
		require.NoError(t, os.WriteFile(filepath.Join(dir, journalFile), []byte(" "), 0o600))
		require.NoError(t, os.Truncate(filepath.Join(dir, name), 1<<32)) // takes no space
		_, err = openJournal(dir, &c, "", entrants)
		require.ErrorContains(t, err, want)
	}
}

func configOf(format uint8) Config {
	return Config{Rules: blocking.Game, Format: formats[int(format)%len(formats)], Seats: 2, Games: 2, Finals: 1}
}
