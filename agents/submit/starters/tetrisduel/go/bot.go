// A complete bot of the Tetris duel: of the legal placements, it takes one that lies low and makes few holes.
// The rules and the protocol are in env/tetrisduel/RULES.md; "§" below means a section of that page.
package main

import (
	"bufio"
	"fmt"
	"os"
	"strings"
)

type cell struct{ y, x int } // row, column

// blocks has the cells of blocks 1 to 7 around their centre, in direction 0 (§3).
var blocks = [8][4]cell{
	1: {{0, -1}, {0, 0}, {0, 1}, {0, 2}}, 2: {{-1, -1}, {0, -1}, {0, 0}, {0, 1}},
	3: {{-1, 1}, {0, -1}, {0, 0}, {0, 1}}, 4: {{-1, 0}, {-1, 1}, {0, 0}, {0, 1}},
	5: {{-1, 0}, {-1, 1}, {0, -1}, {0, 0}}, 6: {{-1, 0}, {0, -1}, {0, 0}, {0, 1}},
	7: {{-1, -1}, {-1, 0}, {0, 0}, {0, 1}},
}

const (
	rows  = 25
	floor = 15 // blocks stay above this row of our frame
)

// A move is a placement: row and column of the block's centre, and quarter turns clockwise (§4).
type move struct{ y, x, direction int }

// covered returns the cells that a placement covers.
func covered(block int, m move) map[cell]bool {
	cells := map[cell]bool{}
	for _, c := range blocks[block] {
		for k := 0; k < m.direction; k++ { // a quarter turn clockwise about the centre
			c = cell{c.x, -c.y}
		}
		cells[cell{m.y + c.y, m.x + c.x}] = true
	}
	return cells
}

// rating is how good a placement is: low is good, empty cells directly below it are bad.
func rating(board []string, block int, m move) (sum int) {
	cells := covered(block, m)
	for c := range cells {
		sum += c.y
		if c.y+1 < floor && board[c.y+1][c.x] == '.' && !cells[cell{c.y + 1, c.x}] {
			sum -= 8
		}
	}
	return sum
}

func main() {
	in := bufio.NewScanner(os.Stdin)
	read := func() string {
		if !in.Scan() {
			os.Exit(0) // the host has closed the pipe
		}
		return in.Text()
	}
	for {
		switch line := read(); strings.Fields(line)[0] {
		case "blocks": // the last line of the start, with the whole sequence
			fmt.Println("ready")
		case "turn": // §8.2: half-turn, round, block, my points, the opponent's, combo, flag, milliseconds left
			var turn, round, block, count int
			fmt.Sscanf(line, "turn %d %d %d", &turn, &round, &block)
			read() // the opponent's last placement, which is on the board already
			board := make([]string, rows)
			for y := range board {
				board[y] = read()
			}
			fmt.Sscanf(read(), "moves %d", &count)
			best, most := move{}, -1000000
			for ; count > 0; count-- {
				var m move
				fmt.Sscan(read(), &m.y, &m.x, &m.direction)
				if value := rating(board, block, m); value > most {
					most, best = value, m
				}
			}
			fmt.Println(best.y, best.x, best.direction)
		case "end":
			return
		}
	}
}
