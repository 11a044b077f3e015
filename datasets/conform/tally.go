package conform

import (
	"fmt"
	"slices"
)

// A Tally counts comparisons.
type Tally struct {
	Compared, Differ int
	First            string // the first difference with its place and both values
	place            func() string
	noted            []string
}

// At names the place of the comparisons that follow. It calls place only for a difference.
func (t *Tally) At(place func() string) { t.place, t.noted = place, t.noted[:0] }

// Note adds a line, such as the input at this place, to print with a difference there.
func (t *Tally) Note(line string) { t.noted = append(t.noted, line) }

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

// GivenList compares a list if the transcript states it.
func GivenList[T comparable](t *Tally, key string, recorded *[]T, replayed []T) {
	if recorded == nil {
		return
	}
	t.Compared++
	if !slices.Equal(*recorded, replayed) {
		t.differs(key, *recorded, replayed)
	}
}

func (t *Tally) differs(key string, recorded, replayed any) {
	if t.Differ++; t.Differ > 1 {
		return
	}
	place := ""
	if t.place != nil {
		place = t.place() + ", "
	}
	t.First = fmt.Sprintf("%s%s\n  recorded: %v\n  replayed: %v\n", place, key, recorded, replayed)
	for _, n := range t.noted {
		t.First += "  " + n + "\n"
	}
}
