package blockbattlebot

import (
	"fmt"
	"math/rand"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/bots/features"
	"blockyard/env/blockbattle"
	"blockyard/env/envtest"
)

// slowHalf has the counts of one side by the names of their features, each with what is divided by.
func slowHalf(side *blockbattle.Side) (shape, map[string][2]int) {
	s := slowShape(&side.Cells, int(side.Solid))
	over := int(side.Points) % blockbattle.PerGarbage
	out := map[string][2]int{
		"holes": {s.holes, 8}, "covers": {s.covers, 10}, "hole rows": {s.holeRows, 5}, "overhangs": {s.overhangs, 4},
		"row edges": {s.rowEdges, 30}, "column edges": {s.colEdges, 20}, "wells": {s.wells, 10},
		"highest": {s.floor - s.minFree, 10}, "cells": {s.cells, 60}, "room": {s.minFree, 10}, "spawn room": {s.spawn, 10},
		"spawn room below 4": {yes(s.spawn < 4), 1}, "spawn room below 2": {yes(s.spawn < 2), 1},
		"gap rows open": {s.gapOpen, 4}, "gap rows closed": {s.gapClosed, 4}, "gap rows of two": {s.gapTwo, 4},
		"ready rows": {s.ready, 4}, "well depth": {s.deepest - s.second, 5},
		"T slots": {s.slots, 2}, "T singles": {s.singles, 2}, "T doubles": {s.doubles, 1}, "T notches": {s.notches, 2},
		"T halves": {s.halves, 1}, "points over 3": {over, 2}, "points one short": {yes(over == 2), 1},
		"combo": {min(int(side.Combo), 8), 4}, "skips": {min(int(side.Skips), 6), 3},
	}
	tops := s.tops()
	for x, top := range tops {
		out[fmt.Sprint("height ", x)] = [2]int{s.floor - top, 10}
		if x > 0 {
			step := min(max(tops[x-1]-top, -6), 6)
			out[fmt.Sprint("step ", x)], out[fmt.Sprint("step size ", x)] = [2]int{step, 3}, [2]int{max(step, -step), 3}
		}
	}
	return s, out
}

func yes(b bool) int { return int(features.Yes(b)) }

// slowThreat is how many rows a side can send with the piece that suits it best.
func slowThreat(s *shape, side *blockbattle.Side) int {
	gain := []int{0, 0, 3, 6, 10}[s.ready]
	if s.singles > 0 {
		gain = max(gain, 5)
	}
	if s.doubles > 0 {
		gain = 10
	}
	if gain == 0 && s.gapOpen+s.gapTwo == 0 {
		return 0
	}
	return (int(side.Points)%blockbattle.PerGarbage + gain + int(side.Combo)) / blockbattle.PerGarbage
}

// slowFeatures has all features of seat by name, from counts cell by cell.
func slowFeatures(s *blockbattle.State, seat int) map[string]float64 {
	own, mine := slowHalf(&s.Sides[seat])
	opp, theirs := slowHalf(&s.Sides[1-seat])
	threat, sent := slowThreat(&opp, &s.Sides[1-seat]), int(s.Sides[1-seat].Pending)
	left := (15 - int(s.Round)%15) % 15
	all := map[string][2]int{
		"rows sent": {sent, 3}, "opponent room after rows sent": {opp.minFree - sent, 10},
		"opponent buried": {yes(sent > opp.minFree), 1}, "own room after threat": {own.minFree - threat, 10},
		"own buried by threat": {yes(threat > own.minFree), 1}, "own bumps": {slowBumps(own.tops()), 20},
		"own peak squared":       {over(10, own.minFree) * over(10, own.minFree), 50},
		"own spawn lack squared": {over(4, own.spawn) * over(4, own.spawn), 8}, "own four ready": {yes(own.ready == 4), 1},
		"own double ready": {yes(own.doubles > 0), 1}, "own few skips": {min(int(s.Sides[seat].Skips), 4), 2},
		"rows sent into little room": {sent * over(10, opp.minFree), 30},
		"own exposure squared":       {over(threat+3, own.minFree) * over(threat+3, own.minFree), 50},
		"threat":                     {threat, 3}, "rounds to solid row": {left, 15}, "solid row next": {yes(left == 0), 1},
		"solid rows": {int(s.Sides[1-seat].Solid), 10}, "round": {min(int(s.Round), 200), 100},
	}
	for name := range mine {
		all["own "+name], all["opponent "+name] = mine[name], theirs[name]
	}
	for k, turns := range []int{1, 1, 2, 2, 4, 4, 4} { // the I lying, and no turn twice
		piece := "IOSZTJL"[k]
		n := slowFits(own.tops(), piece, turns)
		all[fmt.Sprintf("own %c fits", piece)] = [2]int{min(n, 4), 2}
		all[fmt.Sprintf("own no %c", piece)] = [2]int{yes(n == 0), 1}
	}
	all["own I flat"] = all["own I fits"]
	delete(all, "own I fits")
	delete(all, "own no I")
	digs := slowDigs(&s.Sides[seat].Cells, own.floor)
	for k, c := range []struct {
		name string
		unit int
	}{
		{"cover rows", 4}, {"cover gaps", 10}, {"top hole cells", 2}, {"top hole row gaps", 4},
		{"top hole row above floor", 10}, {"least cover gaps", 4}, {"no holes", 1}, {"bottom row gaps", 4},
	} {
		all["own "+c.name] = [2]int{int(digs[k]), c.unit}
	}
	for k, c := range []struct {
		name string
		unit int
	}{
		{"digs", 4}, {"dig rows", 10}, {"dig gaps", 20},
		{"second dig rows", 4}, {"second dig gaps", 10}, {"second dig least gaps", 4},
		{"rows opened by first dig", 4},
		{"cover rows lacking 1", 2}, {"cover rows lacking 2", 2}, {"cover rows lacking 3", 2}, {"cover gap columns", 4},
	} {
		all["own "+c.name] = [2]int{int(digs[laterAt+k]), c.unit}
	}
	for n := range 6 {
		all[fmt.Sprint("own whole rows lacking ", n+1)] = [2]int{int(digs[wholeAt+n]), 4}
		all[fmt.Sprint("own hole rows lacking ", n+1)] = [2]int{int(digs[holedAt+n]), 4}
	}
	for n := range 3 {
		all[fmt.Sprint("own runs of ", n+2)] = [2]int{int(digs[runsAt+n]), 4}
		all[fmt.Sprint("own split gaps of ", n+2)] = [2]int{int(digs[splitAt+n]), 4}
	}
	out := map[string]float64{}
	for name, c := range all {
		out[name] = float64(c[0]) / float64(c[1])
	}
	return out
}

func over(n, limit int) int { return max(n-limit, 0) }

// Every feature is what its name says, in numbers of modest size.
func TestFeaturesAgainstTwin(t *testing.T) {
	r := rand.New(rand.NewSource(*seed))
	reader, out, seen := new(FeatureReader), make([]float32, Len), map[string]int{}
	for i := range envtest.Many(10_000, 100_000) {
		s, seat := roundStart(r), r.Intn(2)
		s.Sides[1-seat].Pending = uint8(r.Intn(6))
		reader.Shared(s, seat, out[OwnLen:])
		reader.Own(s, seat, out[:OwnLen])
		want := slowFeatures(s, seat)
		require.Len(t, want, Len)
		for k, name := range FeatureNames {
			if v := float64(out[k]); max(want[name]-v, v-want[name]) > 1e-5 || v < -4 || v > 30 { // require is slow
				require.InDelta(t, want[name], v, 1e-5, "%s, seed %d, position %d", name, *seed, i)
				require.Fail(t, "out of range", "%s is %v", name, v)
			}
			if out[k] != 0 {
				seen[name]++
			}
		}
	}
	for _, name := range FeatureNames {
		require.Greater(t, seen[name], 10, "too few positions with %s", name)
	}
}

// slowFits counts the places of a piece, in its first so many turns, where no cell under it is empty.
func slowFits(tops [columns]int, letter byte, turns int) (n int) {
	for rot := range turns {
		_, cells := blockbattle.Box(strings.IndexByte(blockbattle.Letters, letter), rot)
		bottom := map[int]int{} // below the lowest cell of each column of the piece
		for _, c := range cells {
			bottom[int(c.X)] = max(bottom[int(c.X)], int(c.Y)+1)
		}
		for left := -2; left < columns; left++ {
			gaps, inside := map[int]bool{}, true
			for x, y := range bottom {
				if inside = inside && left+x >= 0 && left+x < columns; inside {
					gaps[tops[left+x]-y] = true
				}
			}
			if inside && len(gaps) == 1 {
				n++
			}
		}
	}
	return n
}
