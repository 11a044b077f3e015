package conform

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// A Checker checks the lines of one contest's transcripts in order. It has state, because a line may
// continue the game of the lines before it, so every reading needs a new one.
type Checker struct {
	// Tag is the key whose text says of which kind a line is. Lines of a kind with a Key lack it.
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
	check func(t *Tally, v Values, line []byte) error
}

// Tagged is the kind of the lines whose tag is the given text. A check gets the inputs of a replay, which T declares,
// and compares the other values of the line.
func Tagged[T any](name, tag string, check func(*Tally, Values, *T) error) Kind {
	return Kind{Name: name, Tag: tag, check: func(t *Tally, v Values, line []byte) error {
		var inputs T
		if err := json.Unmarshal(line, &inputs); err != nil {
			return err
		}
		return check(t, v, &inputs)
	}}
}

// Keyed is Tagged for lines without a tag, which are recognised by their key.
func Keyed[T any](name, key string, check func(*Tally, Values, *T) error) Kind {
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
