package games

import (
	"crypto/sha256"
	"fmt"
	"testing"

	"blockyard/env"
	"blockyard/env/blockbattle"
	"blockyard/env/blocking"
	"blockyard/env/dropblox"
	"blockyard/env/tetrisduel"
	"blockyard/env/wintetris"

	"github.com/stretchr/testify/require"
)

// The positions that training starts from are accepted, not over, and hardly ever the same. They stay what they are, or
// the commands that made the shipped networks make others. A stricter State.Check changes them, too: positions that it
// refuses are drawn again.
func TestStartsStayTheSame(t *testing.T) {
	for _, c := range []struct {
		rules *env.Game
		game  *Game
		sum   string
	}{
		{blockbattle.Game, BlockBattle, "5cd3384fbfa32f6c"},
		{tetrisduel.Game, TetrisDuel, "73e20847b8a7460e"},
		{blocking.Game, Blocking, "1dc9775bbf86ad5b"},
		{wintetris.Game, WinTetris, "cb6af90391c07fc8"},
		{wintetris.Paper10Game, WinTetrisPaper, "c16566b8730c4267"},
		{wintetris.Paper20Game, WinTetrisPaper, "499379210a86efbe"},
		{dropblox.Game, Dropblox, "652cbb44947cd1d3"},
	} {
		t.Run(c.rules.Name, func(t *testing.T) {
			g, err := Of(c.rules)
			require.NoError(t, err)
			require.Same(t, c.game, g)
			var r env.Rand
			r.Seed(1)
			s, hash, all := c.rules.New(c.rules.MinSeats), sha256.New(), map[string]bool{}
			for range 1000 {
				s.Reset(r.Next())
				g.Damage(s, &r)
				require.NoError(t, s.Check())
				require.NotZero(t, s.Acting())
				data, err := env.Encode(nil, s)
				require.NoError(t, err)
				hash.Write(data)
				all[string(data)] = true
			}
			require.Greater(t, len(all), 990)
			require.Equal(t, c.sum, fmt.Sprintf("%x", hash.Sum(nil)[:8]))
		})
	}
}
