package task

import (
	"fmt"

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

// mirrorBlockBattle is mirrorColumns that also exchanges what fits S and Z, J and L. The bumps
// stay, although of several lowest columns they leave out the leftmost.
func mirrorBlockBattle() func([]float32) {
	var pairs [][2]string
	for _, form := range []string{"own %s fits", "own no %s"} {
		for _, p := range [][2]string{{"S", "Z"}, {"J", "L"}} {
			pairs = append(pairs, [2]string{fmt.Sprintf(form, p[0]), fmt.Sprintf(form, p[1])})
		}
	}
	return mirrorColumns(blockbattlebot.FeatureNames, blockbattle.Width, pairs...)
}
