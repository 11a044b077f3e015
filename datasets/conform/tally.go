package conform

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
)

// A Tally counts values that were compared, and keeps where the first two differ.
type Tally struct {
	Compared, Differ int
	First            string // the first difference with its place and both values
	game             string // of the place; "" outside of games
	place            string // a format for args
	args             []any
	notes            []string
	prefix           string // of the keys
	malformed        error  // a value of the line is not of its type
}

// Values are the values of an object in a transcript by their keys.
type Values map[string]json.RawMessage

// Has reports whether the transcript states a value, which may be null.
func (v Values) Has(key string) bool { return v[key] != nil }

// Read reads a value. It leaves into as it is if the transcript does not state the value.
func (v Values) Read(key string, into any) {
	if !v.Has(key) {
		return
	}
	if err := json.Unmarshal(v[key], into); err != nil {
		Malformed("%s: %w", key, err)
	}
}

// Given compares values, keys and replayed ones in turn, but those that the transcript does not state or has as null.
func (v Values) Given(t *Tally, replayed ...any) {
	for pair := range slices.Chunk(replayed, 2) {
		key, value := pair[0].(string), pair[1]
		if !v.Has(key) || string(v[key]) == "null" {
			continue
		}
		into := reflect.New(reflect.TypeOf(value))
		if err := json.Unmarshal(v[key], into.Interface()); err != nil {
			t.malformed = cmp.Or(t.malformed, fmt.Errorf("%s: %w", key, err))
			continue
		}
		t.Compared++
		recorded := into.Elem()
		empty := recorded.Kind() == reflect.Slice && recorded.Len() == 0 && reflect.ValueOf(value).Len() == 0
		if !empty && !reflect.DeepEqual(recorded.Interface(), value) {
			t.differs(key, recorded.Interface(), value)
		}
	}
}

// Under puts a prefix before the keys that differ, until the function that it returns is called.
func (t *Tally) Under(prefix string) (end func()) {
	t.prefix = prefix
	return func() { t.prefix = "" }
}

// At names the place of the comparisons that follow. It is formatted only for a difference.
func (t *Tally) At(format string, args ...any) {
	t.place, t.args, t.notes = format, args, t.notes[:0]
}

// Note adds a line, such as the input at this place, to print with a difference there.
func (t *Tally) Note(line string) { t.notes = append(t.notes, line) }

// Same compares one value of the transcript with that of the replay, and reports whether they are equal.
func Same[T comparable](t *Tally, key string, recorded, replayed T) bool {
	t.Compared++
	if recorded == replayed {
		return true
	}
	t.differs(key, recorded, replayed)
	return false
}

// Each returns what f makes of each element.
func Each[T, U any](list []T, f func(T) U) []U {
	out := make([]U, len(list))
	for k, v := range list {
		out[k] = f(v)
	}
	return out
}

func (t *Tally) differs(key string, recorded, replayed any) {
	if t.Differ++; t.Differ > 1 {
		return
	}
	for _, place := range []string{t.game, fmt.Sprintf(t.place, t.args...)} {
		if place != "" {
			t.First += place + ", "
		}
	}
	t.First += fmt.Sprintf("%s%s\n  recorded: %v\n  replayed: %v\n", t.prefix, key, recorded, replayed)
	for _, n := range t.notes {
		t.First += "  " + n + "\n"
	}
}
