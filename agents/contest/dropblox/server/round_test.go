package server

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"blockyard/agents/contest/dropblox/protocol"
)

// compete asks for the common game and expects one.
func (h *hall) compete(who [2]string) *protocol.Reply {
	r := h.ask(who, protocol.GetCompete, "")
	require.Equal(h.t, protocol.OK, r.Ret)
	return r
}

// waits expects a team to be told to wait, and returns how long.
func (h *hall) waits(who [2]string) float64 {
	r := h.ask(who, protocol.GetCompete, "")
	require.Equal(h.t, protocol.Wait, r.Ret)
	require.Nil(h.t, r.Game)
	return *r.WaitTime
}

func TestRound(t *testing.T) {
	h := newHall(t, Config{Players: 2, Rounds: 1, Notice: time.Second})
	require.Equal(t, 0.5, h.waits(blue))
	h.pass(4 * time.Second)
	require.Equal(t, 0.5, h.waits(blue))
	require.Equal(t, 0.5, h.waits(red), "the round begins in a second")
	h.pass(700 * time.Millisecond)
	require.InDelta(t, 0.3, h.waits(blue), 1e-9, "so that all ask when it begins")
	h.pass(300 * time.Millisecond)
	b := h.compete(blue)
	h.pass(2 * time.Second)
	r := h.compete(red)
	require.NotEqual(t, b.Game.ID, r.Game.ID)
	require.JSONEq(t, string(b.Game.State), string(r.Game.State), "the same blocks")
	require.Equal(t, 300.0, *b.Seconds)
	require.Equal(t, 298.0, *r.Seconds, "the same clock")
	require.Equal(t, b.Game.ID, h.compete(blue).Game.ID, "who comes again goes on")
	require.Equal(t, protocol.OK, h.ask(blue, protocol.SubmitMove, move(b.Game.ID, "0", "[]")).Ret)
	h.pass(298 * time.Second)
	require.Empty(t, h.rounds)
	h.pass(time.Millisecond)
	require.Len(t, h.rounds, 1)
	got := h.rounds[0]
	require.Equal(t, 1, got.Number)
	require.Equal(t, []Standing{
		{1, "blue", 0, 1, "time", string(b.Game.ID)}, {1, "red", 0, 0, "time", string(r.Game.ID)},
	}, got.Ranks)
	require.Contains(t, h.file(b.Game.ID, "meta"), `"seed":"`+got.Seed+`"`)
	require.Contains(t, h.file(b.Game.ID, "meta"), `"mode":"compete"`)
	for _, id := range []protocol.ID{b.Game.ID, r.Game.ID} {
		require.Contains(t, h.file(id, "meta"), `"reason":"time"`)
	}
	require.Equal(t, protocol.GameOver, h.ask(red, protocol.SubmitMove, move(r.Game.ID, "0", "[]")).Code)
	over := h.ask(blue, protocol.GetCompete, "")
	require.Equal(t, protocol.NoSuchGame, over.Code)
	require.Equal(t, "the competition is over", over.Reason)
	select {
	case <-h.done:
	default:
		t.Fatal("the server does not know that it is over")
	}
}

// A round in which all are through is closed at once, and those who wait for the next one
// get other blocks.
func TestRoundsFollowEachOther(t *testing.T) {
	seeds := []string{"1", "2"}
	h := newHall(t, Config{Players: 2, Rounds: 2})
	h.seed = func() string {
		s := seeds[0]
		seeds = seeds[1:]
		return s
	}
	var first []string
	for n := range 2 {
		h.waits(blue)
		h.waits(red)
		b, r := h.compete(blue), h.compete(red)
		first = append(first, string(b.Game.State))
		require.Equal(t, string(b.Game.State), string(r.Game.State))
		h.games[string(b.Game.ID)].close("test")
		h.Tick()
		require.Len(t, h.rounds, n)
		require.Equal(t, 0.5, h.waits(blue), "until the other is through")
		h.games[string(r.Game.ID)].close("test")
		h.Tick()
		require.Len(t, h.rounds, n+1)
	}
	require.NotEqual(t, first[0], first[1])
	require.Len(t, h.games, 2, "the first round's games are forgotten")
	require.Equal(t, "2", h.rounds[1].Seed)
}

// Who has gone away does not count as waiting.
func TestWaitingMeansAsking(t *testing.T) {
	h := newHall(t, Config{Players: 2})
	h.waits(blue)
	h.pass(waitingTime + time.Second)
	h.waits(red)
	h.pass(time.Second)
	h.waits(red)
	h.waits(blue)
	h.compete(blue)
	h.pass(301 * time.Second)
	require.Len(t, h.rounds, 1)
	require.Equal(t, "blue", h.rounds[0].Ranks[0].Team)
}

// TestRanks of a round that begins at its date, with fewer teams than it waits for, and is stopped.
func TestRanks(t *testing.T) {
	h := newHall(t, Config{Players: 9, Start: time.Unix(1_700_000_060, 0)})
	h.waits(blue)
	h.waits(red)
	h.pass(time.Minute)
	b, r := h.compete(blue), h.compete(red)
	h.games[string(b.Game.ID)].state.Points = 3
	h.games[string(r.Game.ID)].state.Points = 7
	h.Close()
	require.Equal(t, []Standing{{1, "red", 7, 0, "stopped", string(r.Game.ID)}, {2, "blue", 3, 0, "stopped", string(b.Game.ID)}}, h.rounds[0].Ranks)
	require.NotContains(t, string(b.Game.State), "seed")
}

func TestSeedsOfRounds(t *testing.T) {
	seen := map[string]bool{}
	for range 100 {
		seed := randomSeed()
		require.Regexp(t, `^-?\d{1,10}$`, seed)
		seen[seed] = true
	}
	require.Greater(t, len(seen), 95)
}
