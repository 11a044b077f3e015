package moves

import (
	str "strings"

	"sample/rules"
)

type State struct {
	*rules.State
	Names []interface{}
}

// Make shadows names on purpose.
func Make(n int) State {
	rulesState := 3
	base := rules.Base{Word: uint64(rulesState)}
	s := &rules.State{Base: base, Kind: rules.Two}
	for i := 0; i < n; i++ {
		s.Cells[i%rules.Size] = i
	}
	s.Base.Bump()
	return State{State: s, Names: []interface{}{1, "x", s.Base.Word}}
}

func max() string { return str.Repeat("m", 3) }

func Word() string { return max() }
