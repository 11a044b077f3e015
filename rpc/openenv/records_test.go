package openenv

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/datasets/record"
	"blockyard/env/games"
	"blockyard/rpc/server"
	"blockyard/rpc/session/limits"
)

// recording starts a server that records to a file. records closes the file and reads it, by the names of episodes.
func recording(t *testing.T, game string, sc server.Config, change func(*Config)) (
	w *world, records func() map[string]*record.Record) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "games.jsonl.gz")
	to, err := record.Append(path)
	require.NoError(t, err)
	w = start(t, game, sc, func(c *Config) {
		c.Records = to
		if change != nil {
			change(c)
		}
	})
	return w, func() map[string]*record.Record {
		require.NoError(t, w.Close())
		require.NoError(t, to.Close())
		from, err := record.Open(path)
		require.NoError(t, err)
		defer from.Close()
		all := map[string]*record.Record{}
		for {
			rec, err := from.Read()
			if errors.Is(err, io.EOF) {
				return all
			}
			require.NoError(t, err)
			require.NoError(t, record.Check(w.c.Game, rec))
			require.NotContains(t, all, rec.Meta["episode_id"], "an episode has one record")
			all[rec.Meta["episode_id"]] = rec
		}
	}
}

// finish plays the first legal moves to the end, at most so many, and returns the last observation.
func (p *player) finish(r map[string]any, most int) map[string]any {
	p.t.Helper()
	for k := 0; k < most && !r["done"].(bool); k++ {
		_, r = p.step(movesOf(r)[0])
	}
	return r["observation"].(map[string]any)
}

// Episodes that are over are recorded with the names of who played, as the rules play them again; those that are not
// are left out. What names a record's episode is its episode_id.
func TestRecords(t *testing.T) {
	for _, g := range games.All {
		t.Run(g.Name, func(t *testing.T) {
			w, records := recording(t, g.Name, server.Config{Tokens: []limits.Token{{Name: "ann", Secret: "a"}}},
				func(c *Config) { c.StepLimit = 60 })
			p := w.dial(t, "a")
			want := map[string]map[string]any{}
			for seed, seat := range []int{0, g.MinSeats - 1} {
				id := fmt.Sprint(seed)
				_, r := p.send(fmt.Sprintf(`{"type": "reset", "data": {"seed": %d, "seat": %d, "episode_id": %q}}`, seed, seat, id))
				want[id] = p.finish(r, 60)
			}
			_, r := p.send(`{"type": "reset", "data": {"episode_id": "left"}}`)
			p.finish(r, 1)
			all := records()
			require.Len(t, all, 2)
			for id, o := range want {
				rec, seat := all[id], int(o["seat"].(float64))
				require.Equal(t, id, fmt.Sprint(rec.Seed))
				require.Equal(t, o["truncated"], rec.Stopped)
				require.Equal(t, "ann", rec.Agents[seat])
				for k, score := range rec.Scores {
					require.EqualValues(t, score, o["scores"].([]any)[k])
					require.True(t, k == seat || rec.Agents[k] == "random")
				}
			}
		})
	}
}

// A branch continues the record of its game, and so does a restored position, unless its future was drawn anew: no seed
// leads there. A game that was rewound is recorded as it went on.
func TestRecordsOfBranches(t *testing.T) {
	w, records := recording(t, "blockbattle", server.Config{}, nil)
	p := w.dial(t, "")
	_, r := p.send(`{"type": "reset", "data": {"seed": 5, "episode_id": "game"}}`)
	p.step(movesOf(r)[3])
	same := namesOf(p.must("fork", map[string]any{"n": 1}))[0]
	other := namesOf(p.must("fork", map[string]any{"n": 1, "seed": 9}))[0]
	token := p.must("save", nil)["state"]
	for _, branch := range []string{same, other} {
		for r := p.must("observe", map[string]any{"branch": branch}); !r["done"].(bool); {
			r = p.must("play", map[string]any{"branch": branch, "move": movesOf(r)[0]})
		}
	}
	p.must("restore", map[string]any{"state": token})
	p.must("rewind", map[string]any{"turn": 1})
	p.finish(p.must("observe", nil), 1000)
	q := w.dial(t, "")
	_, r = q.send(fmt.Sprintf(`{"type": "reset", "data": {"state": %q, "episode_id": "restored"}}`, token))
	q.finish(r, 1000)
	all := records()
	require.Len(t, all, 3)
	require.Contains(t, all, same)
	for _, rec := range all {
		require.EqualValues(t, 5, rec.Seed)
		require.Equal(t, []string{"agent", "random"}, rec.Agents)
		require.Equal(t, all[same].Choices, rec.Choices)
	}
	require.Contains(t, all, "game")
	require.Contains(t, all, "restored")
}
