//go:build cgo && wtfault

package main

import (
	"strings"

	"blockyard/agents/submit/wintetris/handles"
	"blockyard/env/wintetris"
)

// newSolver is for tests of crashes: the options "crash=nil", "crash=index" and "crash=panic"
// make solvers that fail in every piece's first tick; "crash=open" fails at once.
func newSolver(options string) (wintetris.Solver, error) {
	how, ok := strings.CutPrefix(options, "crash=")
	if !ok {
		return handles.NewSolver(options)
	}
	if how == "open" {
		panic("crash in open")
	}
	s, err := handles.NewSolver("")
	return crasher{s, how}, err
}

type crasher struct {
	wintetris.Solver
	how string
}

func (c crasher) Update(f *wintetris.Field, now, next wintetris.Block, fresh bool) wintetris.Bits {
	if fresh {
		switch c.how {
		case "nil":
			var none *wintetris.Field
			none.Set(int(now.X), 0)
		case "index":
			f[int(now.Kind)+100] = 1
		default:
			panic("crash")
		}
	}
	return c.Solver.Update(f, now, next, fresh)
}
