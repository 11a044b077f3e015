package export

import (
	"encoding/json"
	"fmt"
	"strings"

	"blockyard/env"
)

// observationSpace is the space of observations, Dict(planes, globals), in Minari's format. Like Minari it
// writes infinite bounds as Infinity, which is not JSON; see finite.
func observationSpace(g *env.Game) string {
	p := g.Planes
	box := func(dtype, shape, low, high string) string {
		return fmt.Sprintf(`{"type": "Box", "dtype": %q, "shape": %s, "low": %s, "high": %s}`, dtype, shape, low, high)
	}
	cube := func(value string) string { return nested(value, p.C, p.H, p.W) }
	return fmt.Sprintf(`{"type": "Dict", "subspaces": {"planes": %s, "globals": %s}}`,
		box("uint8", fmt.Sprintf("[%d, %d, %d]", p.C, p.H, p.W), cube("0"), cube(fmt.Sprint(g.PlaneMax))),
		box("float32", fmt.Sprintf("[%d]", g.Globals()), nested("-Infinity", g.Globals()), nested("Infinity", g.Globals())))
}

// actionSpace is the space of actions in Minari's format.
func actionSpace(g *env.Game) string {
	return fmt.Sprintf(`{"type": "Discrete", "dtype": "int64", "start": 0, "n": %d}`, g.Actions)
}

// nested is an array of one value with the given sizes.
func nested(value string, sizes ...int) string {
	for k := len(sizes) - 1; k >= 0; k-- {
		value = "[" + strings.TrimSuffix(strings.Repeat(value+", ", sizes[k]), ", ") + "]"
	}
	return value
}

// finite makes a space valid JSON: infinite bounds become strings.
func finite(space string) json.RawMessage {
	space = strings.ReplaceAll(space, "-Infinity", `"-inf"`)
	return json.RawMessage(strings.ReplaceAll(space, "Infinity", `"inf"`))
}
