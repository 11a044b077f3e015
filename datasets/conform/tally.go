package conform

import (
	"fmt"
	"slices"
)

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
