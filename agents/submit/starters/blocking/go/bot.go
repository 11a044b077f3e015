// A complete bot of Blocking: it plays the legal placement of the largest shape, nearest to the middle.
// The rules and the protocol are in env/blocking/RULES.md; "§" below means a section of that page.
package main

import (
	"bufio"
	"fmt"
	"os"
)

type cell struct{ x, y int } // column, row

// A shape is the squares of a letter: the size of its box, and the box row by row, # for a square (§3.1).
type shape struct {
	columns, rows int
	text          string
}

// A move is a placement of the list: the cell, and the four characters of the code (§4.1).
type move struct {
	column, row int
	code        string
}

// covered returns the cells that a move covers (§3.2).
func (s shape) covered(m move) (cells []cell) {
	for k := range s.text {
		if s.text[k] != '#' {
			continue
		}
		c := cell{k % s.columns, k / s.columns}
		if m.code[1] == '1' {
			c = cell{c.y, c.x}
		}
		for r := m.code[2]; r > '0'; r-- {
			c = cell{-c.y, c.x}
		}
		cells = append(cells, c)
	}
	origin := cells[m.code[3]-'1'] // the square that lies on the cell (column, row)
	for k, c := range cells {
		cells[k] = cell{m.column + c.x - origin.x, m.row + c.y - origin.y}
	}
	return cells
}

func abs(n int) int {
	if n < 0 {
		return -n
	}
	return n
}

func main() {
	in := bufio.NewReader(os.Stdin)
	read := func(to ...interface{}) {
		if _, err := fmt.Fscan(in, to...); err != nil {
			os.Exit(0) // the host has closed the pipe: the game is over
		}
	}
	shapes := map[byte]shape{}
	var count, players, me, size int
	var letters string
	for read(&count); count > 0; count-- {
		var letter string
		var s shape
		read(&letter, &s.columns, &s.rows, &s.text)
		shapes[letter[0]] = s
	}
	read(&players, &me, &size, &letters)
	fmt.Fprintf(os.Stderr, "player %d of %d, letters %s\n", me, players, letters) // free for logging

	board := make([]string, size)
	for {
		for y := range board {
			read(&board[y])
		}
		var player, largest, nearest int
		var m, best move
		for read(&count); count > 0; count-- {
			read(&player, &m.column, &m.row, &m.code) // what the others did; the board has it already
		}
		for read(&count); count > 0; count-- {
			read(&m.column, &m.row, &m.code)
			cells := shapes[m.code[0]].covered(m)
			way := 4 * size // twice the way to the middle of the board
			for _, c := range cells {
				if w := abs(2*c.x-size+1) + abs(2*c.y-size+1); w < way {
					way = w
				}
			}
			if len(cells) > largest || len(cells) == largest && way < nearest {
				largest, nearest, best = len(cells), way, m
			}
		}
		fmt.Println(best.column, best.row, best.code)
	}
}
