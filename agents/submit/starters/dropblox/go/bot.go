// A complete program for Dropblox: it tries every rotation and column and takes the lowest place with the fewest
// holes. The rules and the protocol are in env/dropblox/RULES.md; "§" below means a section of that page. The host
// starts the program for every turn, with the state as JSON and the seconds that are left.
package main

import (
	"encoding/json"
	"fmt"
	"os"
)

type square struct{ I, J int } // row from the top, column

type state struct { // what the program needs of §8.2
	Bitmap [][]int
	Block  struct {
		Center  square
		Offsets []square
	}
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

// drop returns the state with the block as far down as it goes.
func (s state) drop() state {
	for next, ok := s.move("down"); ok; next, ok = s.move("down") {
		s = next
	}
	return s
}

// leftmost returns the commands that move the block as far to the left as it goes.
func leftmost(s state) (answer string) {
	for next, ok := s.move("left"); ok; next, ok = next.move("left") {
		answer += "left\n"
	}
	return answer
}

// rating is how good it is to leave the block there: low is good, empty cells directly below it are bad.
func rating(s state) (sum int) {
	own, c := map[square]bool{}, s.Block.Center
	for _, o := range s.Block.Offsets {
		own[o] = true
	}
	for o := range own {
		sum += c.I + o.I
		if !own[square{o.I + 1, o.J}] && s.free(c.I+o.I+1, c.J+o.J) {
			sum -= 8
		}
	}
	return sum
}

// lowest returns the commands of the best landing that turns in place, goes sideways and drops.
func lowest(s state) (answer string) {
	best, ok := -1000000, true
	for turns := ""; ok && len(turns) < len("rotate\n")*4; turns += "rotate\n" {
		for _, side := range []string{"left", "right"} {
			commands := turns
			for next, ok := s, true; ok; next, ok = next.move(side) {
				if value := rating(next.drop()); value > best {
					best, answer = value, commands
				}
				commands += side + "\n"
			}
		}
		s, ok = s.move("rotate")
	}
	return answer
}

func main() { // the state is the last argument but one; "./bot left" as the command puts a word before it
	var s state
	if err := json.Unmarshal([]byte(os.Args[len(os.Args)-2]), &s); err != nil {
		panic(err)
	}
	player := lowest
	if os.Args[1] == "left" {
		player = leftmost
	}
	fmt.Print(player(s))
}
