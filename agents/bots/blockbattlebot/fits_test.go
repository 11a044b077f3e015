package blockbattlebot

import (
	"strings"

	"blockyard/env/blockbattle"
)

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
