package conform

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// A Checker checks the lines of one contest's transcripts in order. It has state, because a line may
// continue the game of the lines before it, so every reading needs a new one.
type Checker struct {
	// Tag is the key whose text says of which kind a line is. Lines of other kinds lack it.
	Tag   string
	Kinds []Kind
	// Index, if not nil, reads every line of all files before the first Check.
	Index func(line []byte)
}

// A Kind is one kind of line.
type Kind struct {
	Name  string // for reports: "game"
	Tag   string // the text of the checker's Tag; "" for a line that is recognised by Key
	Key   string // a key that only lines of this kind have
	check func(t *Tally, line []byte) error
}

// Tagged is the kind of the lines whose tag is the given text.
func Tagged[T any](name, tag string, check func(*Tally, *T) error) Kind {
	return Kind{Name: name, Tag: tag, check: decoded(check)}
}

// Keyed is the kind of the lines without a tag that have key.
func Keyed[T any](name, key string, check func(*Tally, *T) error) Kind {
	return Kind{Name: name, Key: key, check: decoded(check)}
}

func decoded[T any](check func(*Tally, *T) error) func(*Tally, []byte) error {
	return func(t *Tally, line []byte) error {
		var rec T
		if err := json.Unmarshal(line, &rec); err != nil {
			return err
		}
		return check(t, &rec)
	}
}

// Check checks one line and returns the name of its kind. An error says that the line is malformed.
func (c *Checker) Check(t *Tally, line []byte) (kind string, err error) {
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(line, &keys); err != nil {
		return "", fmt.Errorf("malformed record: %w", err)
	}
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
		if err := k.check(t, line); err != nil {
			return k.Name, fmt.Errorf("malformed %s: %w", k.Name, err)
		}
		return k.Name, nil
	}
	return "", c.unknown()
}

// unknown is the error for a line of no kind. It lists the kinds.
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

// A Series holds the game that consecutive lines of a transcript describe, from its first line to
// its last.
type Series[G any] struct {
	game *G
	id   string
}

// At names a place in the open game for the comparisons that follow.
func (s *Series[G]) At(t *Tally, format string, args ...any) {
	t.At("game %s, "+format, append([]any{s.id}, args...)...)
}

// Begin makes g the open game. If another game is still open, that is a difference.
func (s *Series[G]) Begin(t *Tally, id any, g *G) {
	if s.game != nil {
		t.At("game %s", s.id)
		Same(t, "the next game begins before its end", true, false)
	}
	s.game, s.id = g, fmt.Sprint(id)
	t.At("game %s", s.id)
}

// Game returns the open game.
func (s *Series[G]) Game() (*G, error) {
	if s.game == nil {
		return nil, errors.New("no game has begun")
	}
	return s.game, nil
}

// End closes the game and compares its id with that of the last line.
func (s *Series[G]) End(t *Tally, id any) (*G, error) {
	g, err := s.Game()
	if err != nil {
		return nil, err
	}
	s.game = nil
	s.At(t, "end")
	s.SameID(t, id)
	return g, nil
}

// SameID compares the id of a line with that of the open game.
func (s *Series[G]) SameID(t *Tally, id any) { Same(t, "id", fmt.Sprint(id), s.id) }

// A Tally counts comparisons.
type Tally struct {
	Compared, Differ int
	First            string // the first difference with its place and both values
	place            string // a format for args
	args             []any
	notes            []string
}

// At names the place of the comparisons that follow. It is formatted only for a difference.
func (t *Tally) At(format string, args ...any) {
	t.place, t.args, t.notes = format, args, t.notes[:0]
}

// Note adds a line, such as the input at this place, to print with a difference there.
func (t *Tally) Note(line string) { t.notes = append(t.notes, line) }

// Same compares one value.
func Same[T comparable](t *Tally, key string, recorded, replayed T) bool {
	t.Compared++
	if recorded == replayed {
		return true
	}
	t.differs(key, recorded, replayed)
	return false
}

// Given compares one value if the transcript states it.
func Given[T comparable](t *Tally, key string, recorded *T, replayed T) {
	if recorded != nil {
		Same(t, key, *recorded, replayed)
	}
}

// GivenList compares a list if the transcript states it: recorded is nil if it does not.
func GivenList[T comparable](t *Tally, key string, recorded, replayed []T) {
	if recorded == nil {
		return
	}
	t.Compared++
	if !slices.Equal(recorded, replayed) {
		t.differs(key, recorded, replayed)
	}
}

func (t *Tally) differs(key string, recorded, replayed any) {
	if t.Differ++; t.Differ > 1 {
		return
	}
	if t.place != "" {
		t.First = fmt.Sprintf(t.place+", ", t.args...)
	}
	t.First += fmt.Sprintf("%s\n  recorded: %v\n  replayed: %v\n", key, recorded, replayed)
	for _, n := range t.notes {
		t.First += "  " + n + "\n"
	}
}
