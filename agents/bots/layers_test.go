//go:build unix

package bots

import (
	"fmt"
	"path/filepath"
	"testing"

	"blockyard/agents/bots/entry/toybot"
	"blockyard/env/blockbattle"
)

// BenchmarkLayers is BenchmarkDecide for networks of Block Battle with one hidden layer, and with a second one of 32
// units. Their weights are random: the actions hardly depend on them, as the positions are given.
func BenchmarkLayers(b *testing.B) {
	g := blockbattle.Game
	features := Features(g).Names
	for _, hidden := range [][]int{{64}, {64, 32}} {
		file := filepath.Join(b.TempDir(), "net.safetensors")
		sizes := append(append([]int{len(features)}, hidden...), 1)
		save(b, file, toybot.RandomNet(b, 1, sizes...), Of(g).Facts(g, nil))
		b.Run(fmt.Sprint(hidden), func(b *testing.B) { benchmarkChoice(b, g, "learned:weights="+file) })
	}
}
