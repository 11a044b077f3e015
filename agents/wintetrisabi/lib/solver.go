//go:build cgo && !wtfault

package main

import "blockyard/agents/wintetrisabi/lib/handles"

var newSolver = handles.NewSolver
