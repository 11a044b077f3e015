package phases

import (
	"math"
	"testing"

	"blockyard/train/selfplay/afterstate"

	"github.com/stretchr/testify/require"
)

func TestReturns(t *testing.T) {
	nan := float32(math.NaN())
	on := func(value float32) afterstate.Step { return afterstate.Step{Value: value} }
	end := func(value, result float32) afterstate.Step {
		return afterstate.Step{Ended: true, Value: value, Last: result}
	}
	for name, c := range map[string]struct {
		steps  []afterstate.Step
		lambda float64
		want   []float32
	}{
		"none":              {nil, .5, nil},
		"cut at once":       {[]afterstate.Step{on(.3)}, .5, []float32{nan}},
		"cut later":         {[]afterstate.Step{on(.3), on(.4), on(.6)}, .5, []float32{.5*.4 + .5*.6, .6, nan}},
		"λ 1 is the result": {[]afterstate.Step{on(.3), on(.4), end(.5, 1)}, 1, []float32{1, 1, 1}},
		"λ 0 is one step":   {[]afterstate.Step{on(.3), on(.4), end(.5, 1)}, 0, []float32{.4, .5, 1}},
		"λ between":         {[]afterstate.Step{on(.3), on(.4), end(.5, 1)}, .5, []float32{.5*.4 + .5*.75, .75, 1}},
		"two games":         {[]afterstate.Step{end(.5, 0), on(.4), end(.2, 1)}, .5, []float32{0, .6, 1}},
	} {
		got := make([]float32, len(c.steps))
		returns(c.steps, c.lambda, got)
		require.Len(t, got, len(c.want), name)
		for i := range c.want {
			if math.IsNaN(float64(c.want[i])) {
				require.True(t, math.IsNaN(float64(got[i])), name)
			} else {
				require.InDelta(t, c.want[i], got[i], 1e-6, "%s: step %d", name, i)
			}
		}
	}
}
