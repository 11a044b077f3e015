package conform

import (
	"encoding/json"
	"errors"
	"fmt"
)

// ErrLost is what a check returns after a difference for which the game cannot be replayed further. The rest of the
// game is then not compared.
var ErrLost = errors.New("the game cannot be replayed further")

// A Series is the game that consecutive lines of a transcript describe, from its first line to its last.
type Series[G any] struct {
	game *G
	id   string
	lost bool // see ErrLost
}

// begin opens the game of a line. If another game is still open, that is a difference.
func (s *Series[G]) begin(t *Tally, v Values) *G {
	if s.game != nil {
		t.At("game %s", s.id)
		Same(t, "the next game begins before its end", true, false)
	}
	*s = Series[G]{game: new(G), id: v.ID()}
	t.enter(s.id)
	return s.game
}

// hear returns err unless it is ErrLost, which it notes.
func (s *Series[G]) hear(err error) error {
	if errors.Is(err, ErrLost) {
		s.lost, err = true, nil
	}
	return err
}

// Opening is the kind of the first line of a game. begin fills in a new G; its error says that the line is malformed.
func Opening[G, T any](s *Series[G], begin func(*Tally, *G, Values, *T) error) Kind {
	return Tagged("game", "game", func(t *Tally, v Values, inputs *T) error {
		return s.hear(begin(t, s.begin(t, v), v, inputs))
	})
}

// Inner is a kind of line within a game.
func Inner[G, T any](s *Series[G], name string, check func(*Tally, *G, Values, *T) error) Kind {
	return Tagged(name, name, func(t *Tally, v Values, inputs *T) error {
		if s.game == nil {
			return errors.New("no game has begun")
		}
		if s.lost {
			return nil
		}
		t.enter(s.id)
		return s.hear(check(t, s.game, v, inputs))
	})
}

// Closing is the kind of the last line of a game, whose id must be that of the first.
func Closing[G, T any](s *Series[G], end func(*Tally, *G, Values, *T) error) Kind {
	return Tagged("end", "end", func(t *Tally, v Values, inputs *T) error {
		if s.game == nil {
			return errors.New("no game has begun")
		}
		g := s.game
		s.game = nil
		t.enter(s.id)
		t.At("end")
		Same(t, "id", v.ID(), s.id)
		if s.lost {
			return nil
		}
		return end(t, g, v, inputs)
	})
}

// ID is the value with the key "id" as text.
func (v Values) ID() string {
	var id any
	_ = json.Unmarshal(v["id"], &id) // without an id it is nil
	return fmt.Sprint(id)
}
