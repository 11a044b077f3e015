package server

import (
	"slices"

	"blockyard/rpc/session/batch"
	"blockyard/rpc/session/memory"
	"blockyard/rpc/session/recorder"
	"blockyard/rpc/wire"
)

// What record takes by default, and the bound on names.
const (
	sampledEpisodes = 100 // every so many episodes one is recorded
	unnamed         = "policy"
)

// recordOptions are the named arguments of record.
type recordOptions struct {
	Every       int64            `msgpack:"every"`
	Games       []byte           `msgpack:"games"`
	Players     map[int64]string `msgpack:"players"`
	Memory      *int64           `msgpack:"memory"`
	Given       []byte           `msgpack:"given"`
	Dropped     wire.Natural     `msgpack:"dropped"`
	Interrupted wire.Natural     `msgpack:"interrupted"`
}

// record starts to record episodes. Those in progress are not recorded.
func (s *session) record(f *wire.Frame, h *handle) error {
	o := recordOptions{Every: sampledEpisodes}
	if err := f.Options(1, &o); err != nil {
		return err
	}
	names, err := h.names(o.Players)
	if err != nil {
		return err
	}
	list := h.gamesIn(f, "games", o.Games, true)
	if err := f.Err(); err != nil {
		return err
	}
	if len(o.Given)%4 != 0 {
		return badParams("record: given has %d bytes, want 4 for each game", len(o.Given))
	}
	before := recorder.Before{
		Given: words[uint32](o.Given), Dropped: uint64(o.Dropped), Interrupted: uint64(o.Interrupted)}
	if err := h.Record(o.Every, list, names, o.Memory, before); err != nil {
		return err
	}
	return s.Reply(f.ID, true)
}

// names returns the names of the client's players by seat.
func (h *handle) names(given map[int64]string) ([]string, error) {
	names := slices.Repeat([]string{unnamed}, h.Config.Seats)
	for seat, name := range given {
		switch {
		case seat < 0 || seat >= int64(h.Config.Seats):
			return nil, badParams("record: players names seat %d, want 0 to %d", seat, h.Config.Seats-1)
		case !h.Env.Driven().Has(int(seat)):
			return nil, badParams(
				"record: players names seat %d, which the server plays: its record has the spec of the opponent", seat)
		case !batch.Printable(name):
			return nil, badParams("record: players: the name of seat %d is %.40q, want 1 to %d bytes of text",
				seat, name, batch.MostName)
		}
		names[seat] = name
	}
	return names, nil
}

func (s *session) records(f *wire.Frame, h *handle) error {
	var o struct {
		Stop bool `msgpack:"stop"`
	}
	if err := f.Options(1, &o); err != nil {
		return err
	}
	r := h.Recorder
	if r == nil {
		return badParams("records: handle %d is not being recorded: call record first", h.ID)
	}
	if o.Stop && !r.Stopped() {
		h.StopRecording()
	}
	size := r.Fitting(s.srv.ledger.Room() - 4*h.Config.Envs)
	if err := s.Reserve(size + 4*h.Config.Envs); err != nil {
		return err
	}
	got := r.Take(size)
	if r.Stopped() && got.Waiting == 0 {
		h.EndRecording()
	}
	return s.Reply(f.ID, wire.Fields{
		"count", got.Count, "lines", got.Lines, "waiting", got.Waiting, "recording", !r.Stopped(),
		"given", memory.Bytes(got.Given), "finished", got.Finished, "dropped", got.Dropped, "interrupted", got.Interrupted,
	})
}
