//go:build cgo && !wtfault

package main

import "blockyard/agents/submit/wintetris/handles"

var newSolver = handles.NewSolver
