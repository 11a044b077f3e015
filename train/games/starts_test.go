package games

import (
	"crypto/sha256"
	"fmt"
	"testing"

	"blockyard/env"

	"github.com/stretchr/testify/require"
)

// The positions that training starts from stay the same, or the commands that made the shipped networks make others. A
// stricter State.Check changes them, too: positions that it refuses are drawn again.
func TestStartsStayTheSame(t *testing.T) {
	for _, c := range []struct {
		game *Game
		sum  string
	}{
		{BlockBattle, "5cd3384fbfa32f6c"},
		{TetrisDuel, "73e20847b8a7460e"},
		{Blocking, "1dc9775bbf86ad5b"},
		{WinTetris, "cb6af90391c07fc8"},
		{Dropblox, "652cbb44947cd1d3"},
	} {
		t.Run(c.game.Rules.Name, func(t *testing.T) {
			var r env.Rand
			r.Seed(1)
			s, hash := c.game.Rules.New(c.game.Rules.MinSeats), sha256.New()
			for range 1000 {
				s.Reset(r.Next())
				c.game.Damage(s, &r)
				data, err := env.Encode(nil, s)
				require.NoError(t, err)
				hash.Write(data)
			}
			require.Equal(t, c.sum, fmt.Sprintf("%x", hash.Sum(nil)[:8]))
		})
	}
}
