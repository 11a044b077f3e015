//go:build cgo

package main

import "blockyard/agents/submit/wintetris/handles"

var newSolver = handles.NewSolver
