package toy_test

import (
	"testing"

	"blockyard/env/envtest"
	"blockyard/env/envtest/toy"
)

func TestPick(t *testing.T)       { envtest.Run(t, toy.Pick) }
func TestTurns(t *testing.T)      { envtest.Run(t, toy.Turns) }
func FuzzPick(f *testing.F)       { envtest.Fuzz(f, toy.Pick) }
func FuzzTurns(f *testing.F)      { envtest.Fuzz(f, toy.Turns) }
func BenchmarkPick(b *testing.B)  { envtest.Bench(b, toy.Pick) }
func BenchmarkTurns(b *testing.B) { envtest.Bench(b, toy.Turns) }
