// A complete Block Battle bot: it tries every rotation and column and takes a landing that is low and makes few holes.
// The rules and the protocol are in env/blockbattle/RULES.md; "§" below means a section of that page.
package main

import (
	"bufio"
	"fmt"
	"os"
	"strings"
)

type (
	cell  struct{ x, y int } // column, row; the top row is 0
	field []string           // rows without commas
	// A piece has the side of its box, and its cells there in orientation 0.
	piece struct {
		side  int
		cells [4]cell
	}
)

var pieces = map[string]piece{ // in orientation 0 (§3)
	"I": {4, [4]cell{{0, 1}, {1, 1}, {2, 1}, {3, 1}}}, "J": {3, [4]cell{{0, 0}, {0, 1}, {1, 1}, {2, 1}}},
	"L": {3, [4]cell{{2, 0}, {0, 1}, {1, 1}, {2, 1}}}, "O": {2, [4]cell{{0, 0}, {1, 0}, {0, 1}, {1, 1}}},
	"S": {3, [4]cell{{1, 0}, {2, 0}, {0, 1}, {1, 1}}}, "T": {3, [4]cell{{1, 0}, {0, 1}, {1, 1}, {2, 1}}},
	"Z": {3, [4]cell{{0, 0}, {1, 0}, {1, 1}, {2, 1}}},
}

// free reports whether a cell is inside the walls, and empty or above the board (§4.1).
func (f field) free(x, y int) bool {
	return x >= 0 && x < len(f[0]) && y < len(f) && (y < 0 || f[y][x] < '2') // 1 is the falling piece itself
}

// fits reports whether the piece can be where its box has its top left corner at (left, top).
func (f field) fits(p piece, left, top int) bool {
	for _, c := range p.cells {
		if !f.free(left+c.x, top+c.y) {
			return false
		}
	}
	return true
}

// rating is how good it is to lock the piece there: low is good, holes are bad, above the board loses.
func (f field) rating(p piece, left, top int) (sum int) {
	own := map[cell]bool{}
	for _, c := range p.cells {
		own[c] = true
	}
	for _, c := range p.cells {
		sum += top + c.y
		if !own[cell{c.x, c.y + 1}] && f.free(left+c.x, top+c.y+1) {
			sum -= 8
		}
		if top+c.y < 0 {
			sum -= 1000
		}
	}
	return sum
}

// choose returns the answer for a piece whose box has its top left corner at (left, top).
func choose(f field, p piece, left, top int) string {
	answer, turned, best := "drop", "", -1000000
	for turns := 0; turns < 4 && f.fits(p, left, top); turns++ { // a blocked turn would not happen
		for step := -1; step <= 1; step += 2 {
			keys := turned
			for x := left; f.fits(p, x, top); x += step { // a blocked shift would become "down" (§4.2)
				y := top
				for f.fits(p, x, y+1) {
					y++
				}
				if value := f.rating(p, x, y); value > best {
					best, answer = value, keys+"drop"
				}
				keys += map[int]string{-1: "left,", 1: "right,"}[step]
			}
		}
		for k, c := range p.cells {
			p.cells[k] = cell{p.side - 1 - c.y, c.x}
		}
		turned += "turnright,"
	}
	return answer
}

func main() {
	said := map[string]string{} // such as said["your_bot"] and said["game this_piece_type"]
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		words := strings.Fields(in.Text())
		if n := len(words) - 1; n >= 2 && words[0] != "action" {
			said[strings.Join(words[1:n], " ")] = words[n]
		} else if n >= 1 && words[0] == "action" {
			f := field(strings.Split(strings.ReplaceAll(said[said["your_bot"]+" field"], ",", ""), ";"))
			p, left, top := pieces[said["game this_piece_type"]], 0, 0
			fmt.Sscanf(said["game this_piece_position"], "%d,%d", &left, &top)
			fmt.Println(choose(f, p, left, top))
		}
	}
}
