package games

import (
	bot "blockyard/agents/bots/blockbattlebot"
	"blockyard/env"
	"blockyard/env/blockbattle"
)

// BlockBattle is how AI Block Battle is trained, by its published rules.
var BlockBattle = tune(New(blockbattle.Game, bot.Entry), func(t *Game) {
	t.Damage = damageBlockBattle
	// Pieces change places. The bumps stay, although of several lowest columns they leave out the leftmost.
	t.Mirror = mirrorColumns(bot.FeatureNames, blockbattle.Width, [2]string{"own S fits", "own Z fits"},
		[2]string{"own J fits", "own L fits"}, [2]string{"own no S", "own no Z"}, [2]string{"own no J", "own no L"})
})

// damageBlockBattle adds up to nine solid rows, and garbage and random cells to a little over half of the others.
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
