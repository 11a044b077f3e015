package conform

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// A Checker checks the lines of one reading of transcripts in order: a line may continue the game before it.
type Checker struct {
	// Tag is the key whose text says of which kind a line is. Lines of a kind with a Key lack it.
	Tag   string
	Kinds []Kind
	// Index, if not nil, reads every line of all files before the first Check.
	Index func(line []byte)
}

// A Kind is one kind of line of a transcript: how to recognise it, and how to check it.
type Kind struct {
	Name  string // for reports: "game"
	Tag   string // the text of the checker's Tag; "" for a line that is recognised by Key
	Key   string // a key that only lines of this kind have
	check func(t *Tally, v Values, line []byte) error
}

// Tagged is the kind of lines with a tag. A check gets the inputs of a replay, T, and compares the other values.
func Tagged[T any](name, tag string, check func(*Tally, Values, *T)) Kind {
	return Kind{Name: name, Tag: tag, check: func(t *Tally, v Values, line []byte) error {
		var inputs T
		if err := json.Unmarshal(line, &inputs); err != nil {
			return err
		}
		return ending(func() { check(t, v, &inputs) })
	}}
}

// Keyed is Tagged for lines without a tag, which are recognised by their key.
func Keyed[T any](name, key string, check func(*Tally, Values, *T)) Kind {
	k := Tagged(name, "", check)
	k.Key = key
	return k
}

// Check checks one line and returns the name of its kind. An error says that the line is malformed.
func (c *Checker) Check(t *Tally, line []byte) (kind string, err error) {
	var keys Values
	if err := json.Unmarshal(line, &keys); err != nil {
		return "", fmt.Errorf("malformed record: %w", err)
	}
	t.game, t.malformed = "", nil
	tag := ""
	if text, ok := keys[c.Tag]; ok {
		if err := json.Unmarshal(text, &tag); err != nil {
			return "", fmt.Errorf("malformed record: %s: %w", c.Tag, err)
		}
	}
	for _, k := range c.Kinds {
		if _, has := keys[k.Key]; k.Tag != tag || k.Tag == "" && !has {
			continue
		}
		err := k.check(t, keys, line)
		if err = cmp.Or(err, t.malformed); err != nil {
			return k.Name, fmt.Errorf("malformed %s: %w", k.Name, err)
		}
		return k.Name, nil
	}
	return "", c.unknown()
}

func (c *Checker) unknown() error {
	var tags, want []string
	for _, k := range c.Kinds {
		if k.Tag != "" {
			tags = append(tags, k.Tag)
		} else {
			want = append(want, fmt.Sprintf("the key %q (a %s)", k.Key, k.Name))
		}
	}
	if len(tags) > 0 {
		want = append([]string{fmt.Sprintf("a %q of %s", c.Tag, strings.Join(tags, ", "))}, want...)
	}
	return errors.New("malformed record: want " + strings.Join(want, ", or "))
}

// A stop is the panic that ends a check early.
type stop struct{ error }

// Malformed ends the check of a line that cannot be replayed.
func Malformed(format string, args ...any) { Valid(fmt.Errorf(format, args...)) }

// Valid ends the check of a line for which there is an error.
func Valid(err error) {
	if err != nil {
		panic(stop{err})
	}
}

var errLost = errors.New("the game cannot be replayed further")

// Require is Same for what the rest of a game follows from. After a difference, that rest is not compared.
func Require[T comparable](t *Tally, key string, recorded, replayed T) {
	if !Same(t, key, recorded, replayed) {
		panic(stop{errLost})
	}
}

// ending runs a check and returns the error with which it ended early.
func ending(check func()) (err error) {
	defer func() {
		switch end := recover().(type) {
		case nil:
		case stop:
			err = end.error
		default:
			panic(end)
		}
	}()
	check()
	return nil
}

// A Series is the game that consecutive lines of a transcript describe, from its first line to its last.
type Series[G any] struct {
	game *G
	id   string
	lost bool // see Require
}

// Line is a kind of line of a game. The first is a "game", whose check fills a new G; the last an "end" of its id.
func Line[G, T any](s *Series[G], name string, check func(*Tally, *G, Values, *T)) Kind {
	return Tagged(name, name, func(t *Tally, v Values, inputs *T) {
		if name == "game" {
			if s.game != nil {
				t.At("game %s", s.id)
				Same(t, "the next game begins before its end", true, false)
			}
			*s = Series[G]{game: new(G), id: v.ID()}
		}
		g := s.game
		if g == nil {
			Malformed("no game has begun")
		}
		t.game = "game " + s.id
		t.At("")
		if name == "end" {
			s.game = nil
			t.At("end")
			Same(t, "id", v.ID(), s.id)
		}
		if s.lost {
			return
		}
		err := ending(func() { check(t, g, v, inputs) })
		if s.lost = errors.Is(err, errLost); !s.lost {
			Valid(err)
		}
	})
}

// ID is the value with the key "id" as text.
func (v Values) ID() string {
	var id any
	_ = json.Unmarshal(v["id"], &id) // without an id it is nil
	return fmt.Sprint(id)
}
