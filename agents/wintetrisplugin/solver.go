//go:build cgo && !wtfault

package main

import "blockyard/agents/wintetrisplugin/handles"

var newSolver = handles.NewSolver
