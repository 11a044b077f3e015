// A complete program for Dropblox: it tries every rotation and column and takes the place that leaves the best board.
// The rules and the protocol are in env/dropblox/RULES.md; "§" below means a section of that page. The host starts the
// program for every turn, with the state as JSON and the seconds that are left.
package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"regexp"
	"slices"
)

type square struct{ I, J int } // row from the top, column

// A block is its centre, and its squares by their distance from the centre (§3.1).
type block struct {
	Center  square
	Offsets []square
}

// A state is what the host says of a game before each turn (§8.2).
type state struct {
	Bitmap  [][]int
	Score   int
	Block   block
	Preview []block
}

func (s *state) free(i, j int) bool {
	return i >= 0 && i < len(s.Bitmap) && j >= 0 && j < len(s.Bitmap[0]) && s.Bitmap[i][j] == 0
}

// move returns the state after a command, and whether the command is legal (§4.2).
func (s state) move(command string) (state, bool) {
	offsets, legal, c := make([]square, len(s.Block.Offsets)), true, &s.Block.Center
	step := map[string]square{"left": {0, -1}, "right": {0, 1}, "up": {-1, 0}, "down": {1, 0}}[command]
	*c = square{c.I + step.I, c.J + step.J}
	for k, o := range s.Block.Offsets {
		if command == "rotate" {
			o = square{o.J, -o.I}
		}
		offsets[k], legal = o, legal && s.free(c.I+o.I, c.J+o.J)
	}
	s.Block.Offsets = offsets
	return s, legal
}

// drop returns the state after the drop (§5): full rows are gone and scored (§6), the next block is in play.
func (s state) drop() state {
	for next, ok := s.move("down"); ok; next, ok = s.move("down") {
		s = next
	}
	rows, width, c := [][]int{}, len(s.Bitmap[0]), s.Block.Center
	for i, row := range s.Bitmap {
		row = slices.Clone(row)
		for _, o := range s.Block.Offsets {
			if c.I+o.I == i {
				row[c.J+o.J] = 1
			}
		}
		if slices.Contains(row, 0) {
			rows = append(rows, row)
		}
	}
	s.Score += 1<<(len(s.Bitmap)-len(rows)) - 1
	for len(rows) < len(s.Bitmap) {
		rows = slices.Insert(rows, 0, make([]int, width))
	}
	return state{rows, s.Score, s.Preview[0], s.Preview[1:]}
}

// leftmost returns the commands that move the block as far to the left as it goes.
func leftmost(s state) (answer string) {
	for next, ok := s.move("left"); ok; next, ok = next.move("left") {
		answer += "left\n"
	}
	return answer
}

// rating is how good a state is: points and low squares are good, empty cells directly below others are bad.
func rating(s state) int {
	value := s.Score
	if _, room := s.move("stay"); !room { // the next block has no room: the game is over (§7)
		value -= 1000000
	}
	for i, row := range s.Bitmap {
		for j, cell := range row {
			value -= cell * (len(s.Bitmap) - i)
			if cell != 0 && s.free(i+1, j) {
				value -= 8
			}
		}
	}
	return value
}

// best returns the commands of the best landing that turns in place, goes sideways and drops.
func best(s state) (answer string) {
	most, ok := math.MinInt, true
	for turns := ""; ok && len(turns) < len("rotate\n")*4; turns += "rotate\n" {
		for _, side := range []string{"left", "right"} {
			commands := turns
			for next, ok := s, true; ok; next, ok = next.move(side) {
				if value := rating(next.drop()); value > most {
					most, answer = value, commands
				}
				commands += side + "\n"
			}
		}
		s, ok = s.move("rotate")
	}
	return answer
}

func main() { // the state is the last argument but one; "./bot left" as the command puts a word before it
	// The example of the contest's introduction lacks a comma and has commas too many: both are mended.
	text := regexp.MustCompile(`([\]}])\s*"`).ReplaceAllString(os.Args[len(os.Args)-2], `$1,"`)
	text = regexp.MustCompile(`(,\s*)+([,\]}])`).ReplaceAllString(text, "$2")
	var s state
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		panic(err)
	}
	player := best
	if os.Args[1] == "left" {
		player = leftmost
	}
	fmt.Print(player(s))
}
