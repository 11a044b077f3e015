package server

import (
	"bytes"
	"errors"
	"io"

	"blockyard/datasets/record"
	"blockyard/datasets/viewer"
	"blockyard/rpc/wire"
)

// view returns one recorded game, which the client sends, as an HTML document that shows it.
func (s *session) view(f *wire.Frame) error {
	lines, err := f.Bin(0, "record")
	if err != nil {
		return err
	}
	o := struct {
		Name string `msgpack:"name"`
	}{Name: "game"}
	if err := f.Options(1, &o); err != nil {
		return err
	}
	if !printable(o.Name) {
		return wire.Errorf(wire.BadParams, "view: name is %.40q, want 1 to %d bytes of text", o.Name, mostName)
	}
	// A page being built takes about as much memory as the largest response.
	if err := s.reserve(s.srv.limits.MaxReply); err != nil {
		return err
	}
	rec, err := oneRecord(lines)
	if err != nil {
		return wire.Errorf(wire.BadParams, "view: %v", err)
	}
	page, err := viewer.HTML(s.ctx, rec, o.Name)
	switch {
	case s.ctx.Err() != nil:
		return wire.Errorf(wire.Draining, "view: the session ended")
	case err != nil:
		return wire.Errorf(wire.BadParams, "view: %v", err)
	case len(page)+replyRoom > s.srv.limits.MaxReply:
		return s.srv.ledger.ExceedsReply(len(page) + replyRoom)
	}
	return s.reply(f.ID, wire.Fields{"game", rec.Game, "agents", rec.Agents, "page", []byte(page)})
}

// oneRecord reads the lines of one game.
func oneRecord(lines []byte) (*record.Record, error) {
	if len(lines) == 0 || lines[0] != '{' { // not compressed: that would hide how long it is
		return nil, errors.New("want the lines of one recorded game, as JSON")
	}
	r, err := record.NewReader("record", bytes.NewReader(lines))
	if err != nil {
		return nil, err
	}
	rec, err := r.Read()
	if err != nil {
		return nil, err
	}
	if _, err := r.Read(); !errors.Is(err, io.EOF) {
		return nil, errors.New("want one recorded game, got more")
	}
	return rec, nil
}
