package selfplay

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// --for takes the place of the iterations of the defaults, not of those that a user gave.
func TestOneBudget(t *testing.T) {
	second, none, five := time.Second, time.Duration(0), 5
	for _, c := range []struct {
		flags Flags
		want  Options
	}{
		{Flags{}, Options{Iterations: 800, Gates: 4}},
		{Flags{For: &second}, Options{For: second, Gates: 1}},
		{Flags{For: &none}, Options{Gates: 1}}, // and Check refuses it
		{Flags{For: &second, Iterations: &five}, Options{For: second, Iterations: five, Gates: 1}},
	} {
		o := Options{Iterations: 800, Gates: 4}
		c.flags.Apply(&o, &o)
		require.Equal(t, c.want, o)
	}
}
