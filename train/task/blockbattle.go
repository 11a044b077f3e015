package task

import (
	"fmt"
	"strconv"
	"strings"

	"blockyard/agents/blockbattlebot"
	"blockyard/env"
	"blockyard/env/blockbattle"
)

// BlockBattle is AI Block Battle by the published rules.
var BlockBattle = merge(New(blockbattle.Game, blockbattlebot.Entry), Game{
	Worth:  worthInBlockBattle,
	Damage: damageBlockBattle,
	Mirror: mirrorBlockBattle(),
	Start:  startBlockBattle,
})

// worthInBlockBattle counts the points of this choice only. No feature shows older ones.
func worthInBlockBattle() func(before, after env.State, seat int) float32 {
	hand, states, out := blockbattlebot.NewHand(), []env.State{new(blockbattle.State)}, make([]float32, 1)
	s := states[0].(*blockbattle.State)
	return func(before, after env.State, seat int) float32 {
		*s = *after.(*blockbattle.State)
		s.Sides[seat].Points -= before.(*blockbattle.State).Sides[seat].Points
		s.Sides[1-seat].Points = 0
		hand.Evaluate(states, seat, out)
		worth := out[0]
		hand.Evaluate(states, 1-seat, out)
		return worth - out[0]
	}
}

// damageBlockBattle advances the clock by up to nine solid rows and fills up to a little over
// half of each board's remaining rows with garbage rows and random cells.
func damageBlockBattle(state env.State, r *env.Rand) {
	s := state.(*blockbattle.State)
	solid := below(r, 10)
	s.Round = int32(solid*blockbattle.SolidInterval + 1 + below(r, blockbattle.SolidInterval))
	for i := range s.Sides {
		d := &s.Sides[i]
		d.Solid = uint8(solid)
		d.Points = int32(below(r, 3) + 3*below(r, 10))
		d.Skips = int32(below(r, 3) / 2)
		room := blockbattle.Height - solid - 4
		rows := below(r, room*6/10+1)
		garbage := below(r, rows+1)
		for k := range rows {
			y := blockbattle.Height - solid - 1 - k
			holes := 1 + k&1 // garbage rows alternate between one and two
			if k >= garbage {
				holes = 2 + below(r, 6)
			}
			for x := range blockbattle.Width {
				d.Cells.Set(x, y)
			}
			for range holes {
				d.Cells[below(r, blockbattle.Width)] &^= 1 << uint(y)
			}
		}
	}
}

// mirrorBlockBattle is mirrorColumns, and exchanges the features of S and Z and of J and L.
// It leaves the bumps alone, though they skip the leftmost of several lowest columns.
func mirrorBlockBattle() func([]float32) {
	columns := mirrorColumns(blockbattlebot.FeatureNames, blockbattle.Width)
	index := map[string]int{}
	for i, n := range blockbattlebot.FeatureNames {
		index[n] = i
	}
	var swap [][2]int
	for _, form := range []string{"own %s fits", "own no %s"} {
		for _, pair := range [][2]string{{"S", "Z"}, {"J", "L"}} {
			swap = append(swap, [2]int{index[fmt.Sprintf(form, pair[0])], index[fmt.Sprintf(form, pair[1])]})
		}
	}
	return func(row []float32) {
		columns(row)
		for _, p := range swap {
			row[p[0]], row[p[1]] = row[p[1]], row[p[0]]
		}
	}
}

// mirrorColumns makes a Mirror for features named "… height X", "… step X" (between
// columns X-1 and X, falling to the right counting as positive or negative) and "… step
// size X"; all others are the same on both sides.
func mirrorColumns(names []string, width int) func([]float32) {
	index := map[string]int{}
	for i, n := range names {
		index[n] = i
	}
	from, sign := make([]int, len(names)), make([]float32, len(names))
	for i, n := range names {
		from[i], sign[i] = i, 1
		cut := strings.LastIndexByte(n, ' ')
		if cut < 0 {
			continue
		}
		x, err := strconv.Atoi(n[cut+1:])
		if err != nil {
			continue
		}
		switch what := n[:cut]; {
		case strings.HasSuffix(what, " height"):
			from[i] = index[fmt.Sprintf("%s %d", what, width-1-x)]
		case strings.HasSuffix(what, " step"):
			from[i], sign[i] = index[fmt.Sprintf("%s %d", what, width-x)], -1
		case strings.HasSuffix(what, " step size"):
			from[i] = index[fmt.Sprintf("%s %d", what, width-x)]
		}
	}
	return func(row []float32) {
		for i, j := range from { // pairs change places
			if j < i {
				row[i], row[j] = sign[i]*row[j], sign[j]*row[i]
			} else if j == i {
				row[i] *= sign[i]
			}
		}
	}
}

// below draws a number from 0 to n-1.
func below(r *env.Rand, n int) int { return int(r.Next() >> 33 % uint64(n)) }
