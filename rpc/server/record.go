package server

import (
	"math"
	"unicode"
	"unicode/utf8"

	"blockyard/rpc/server/games"
	"blockyard/rpc/wire"
)

// Bounds on a recording, and what clients get by default.
const (
	sampledEpisodes = 100     // every so many episodes one is recorded
	recordMemory    = 8 << 20 // bytes of records waiting
	gameMemory      = 4 << 10 // bytes of a record in progress
	leastRecords    = 64 << 10
	mostRecords     = 1 << 30
	mostName        = 200 // bytes of a player's name
	unnamed         = "policy"
)

// recordOptions are the named arguments of record.
type recordOptions struct {
	Every   int64            `msgpack:"every"`
	Games   []byte           `msgpack:"games"`
	Players map[int64]string `msgpack:"players"`
	Memory  *int64           `msgpack:"memory"`
}

// record starts to record episodes. Those in progress are not recorded.
func (s *session) record(f *wire.Frame, h *handle) error {
	o := recordOptions{Every: sampledEpisodes}
	if err := f.Options(1, &o); err != nil {
		return err
	}
	bad := func(what string, v, low, high int64) error {
		return wire.Errorf(wire.BadParams, "record: %s is %d, want %d to %d", what, v, low, high)
	}
	switch {
	case h.recorder != nil:
		return wire.Errorf(wire.BadParams, "record: handle %d is being recorded: call records with stop until waiting is 0",
			h.id)
	case o.Every < 1:
		return bad("every", o.Every, 1, math.MaxInt64)
	}
	memory := min(recordMemory+gameMemory*(int64(h.c.Envs)/o.Every+1), mostRecords)
	if o.Memory != nil {
		if memory = *o.Memory; memory < leastRecords || memory > mostRecords {
			return bad("memory", memory, leastRecords, mostRecords)
		}
	}
	names, err := h.names(o.Players)
	if err != nil {
		return err
	}
	what := games.Options{Game: h.game, Envs: h.c.Envs, First: h.first, Every: uint64(o.Every), Memory: memory,
		Largest: min(memory, int64(s.srv.limits.MaxReply-replyRoom)),
		Players: func(i int) []string { return h.players(i, names) }}
	if o.Games != nil {
		list, err := h.gamesIn("record", "games", o.Games, true)
		if err != nil {
			return err
		}
		what.Chosen = make([]bool, h.c.Envs)
		for _, i := range list {
			what.Chosen[i] = true
		}
	}
	r := games.NewRecorder(what)
	if err := s.account(0, 0, r.Size()); err != nil {
		return err
	}
	h.memory += r.Size()
	h.recorder = r
	h.env.Trace(r)
	return s.reply(f.ID, true)
}

// names returns the names of the client's players by seat.
func (h *handle) names(given map[int64]string) ([]string, error) {
	names := make([]string, h.c.Seats)
	for set := h.env.Driven(); set != 0; set = set.Rest() {
		names[set.First()] = unnamed
	}
	for seat, name := range given {
		switch {
		case seat < 0 || seat >= int64(h.c.Seats):
			return nil, wire.Errorf(wire.BadParams, "record: players names seat %d, want 0 to %d", seat, h.c.Seats-1)
		case !h.env.Driven().Has(int(seat)):
			return nil, wire.Errorf(wire.BadParams,
				"record: players names seat %d, which the server plays: its record has the spec of the opponent", seat)
		case !printable(name):
			return nil, wire.Errorf(wire.BadParams, "record: players: the name of seat %d is %.40q, want 1 to %d bytes of text",
				seat, name, mostName)
		}
		names[seat] = name
	}
	return names, nil
}

func printable(name string) bool {
	for _, c := range name {
		if unicode.IsControl(c) {
			return false
		}
	}
	return name != "" && len(name) <= mostName && utf8.ValidString(name)
}

// players returns who sits where in game i's episode, by seat.
func (h *handle) players(i int, driven []string) []string {
	names := make([]string, h.c.Seats)
	for seat := range names {
		if names[seat] = driven[seat]; !h.env.Driven().Has(seat) {
			names[seat] = h.opponents.known[h.env.Opponent(i, seat)].spec
		}
	}
	return names
}

// records returns finished records and forgets them.
func (s *session) records(f *wire.Frame, h *handle) error {
	var o struct {
		Stop bool `msgpack:"stop"`
	}
	if err := f.Options(1, &o); err != nil {
		return err
	}
	r := h.recorder
	if r == nil {
		return wire.Errorf(wire.BadParams, "records: handle %d is not being recorded: call record first", h.id)
	}
	if o.Stop && !r.Stopped() {
		if h.stream != nil {
			h.stream.Settle()
		}
		h.env.Trace(nil)
		r.Stop()
	}
	size := r.Fitting(s.srv.limits.MaxReply - replyRoom)
	if err := s.reserve(size); err != nil {
		return err
	}
	got := r.Take(size)
	if r.Stopped() && got.Waiting == 0 {
		s.endRecording(h)
	}
	return s.reply(f.ID, wire.Fields{
		"count", got.Count, "lines", got.Lines, "waiting", got.Waiting, "recording", !r.Stopped(),
		"finished", got.Finished, "dropped", got.Dropped, "interrupted", got.Interrupted,
	})
}

// endRecording frees the memory of a recording.
func (s *session) endRecording(h *handle) {
	s.account(0, 0, -h.recorder.Size())
	h.memory -= h.recorder.Size()
	h.recorder = nil
}
