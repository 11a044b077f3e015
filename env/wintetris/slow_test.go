package wintetris

import "slices"

// A slowField is the field cell by cell: [y][x], with open rows above.
type slowField [Height + 6][Width]bool

// slowCells are the cells of a block, drawn and turned anew.
func slowCells(b Block) (out [][2]int) {
	rows := drawings[b.Kind]
	n := len(rows)
	for top, row := range rows {
		for left := range row {
			if row[left] != 'X' {
				continue
			}
			x, y := left, top
			for range b.Rot {
				x, y = n-1-y, x
			}
			out = append(out, [2]int{int(b.X) + x, int(b.Y) + n - 1 - y})
		}
	}
	return out
}

func (f *slowField) fits(b Block) bool {
	return !slices.ContainsFunc(slowCells(b), func(c [2]int) bool {
		return c[0] < 0 || c[0] >= Width || c[1] < 0 || f[c[1]][c[0]]
	})
}

func (f *slowField) fall(b Block) Block {
	for f.fits(b.Moved(0, -1)) {
		b.Y--
	}
	return b
}

// moves is rules §13.1 word by word.
func (f *slowField) moves(b Block) (out []Block) {
turns:
	for t := range 4 {
		c := b
		for range t {
			if c = c.Turned(1); !f.fits(c) {
				continue turns
			}
		}
		for f.fits(c.Moved(-1, 0)) {
			c.X--
		}
		out = append(out, f.fall(c))
		for f.fits(c.Moved(1, 0)) {
			c.X++
			out = append(out, f.fall(c))
		}
	}
	return out
}

// put fills the cells and takes full rows out, one by one.
func (f *slowField) put(b Block) (rows int) {
	for _, c := range slowCells(b) {
		f[c[1]][c[0]] = true
	}
	for y := 0; y < Height; y++ {
		if !slices.Contains(f[y][:], false) {
			rows++
			copy(f[y:], f[y+1:])
			y--
		}
	}
	return rows
}

func (f *slowField) field() (out Field) {
	for y := range Height {
		for x, filled := range f[y] {
			if filled {
				out.Set(x, y)
			}
		}
	}
	return out
}

// A slowEngine is rules §5 to §7 word by word: ticks, levels and points, block out and lock out.
type slowEngine struct {
	f                  slowField
	word               uint64
	piece              Block
	next               uint8
	active, over       bool
	newPiece           bool
	lines, points      int
	conflicts, blocked int
}

func (e *slowEngine) draw() uint8 {
	e.word += 0x9E3779B97F4A7C15
	z := e.word
	z ^= z >> 30
	z *= 0xBF58476D1CE4E5B9
	z ^= z >> 27
	z *= 0x94D049BB133111EB
	z ^= z >> 31
	return uint8((z >> 33) % 7)
}

// spawn is step 1 of a tick, taken early.
func (e *slowEngine) spawn() {
	n := len(drawings[e.next])
	b := Block{Kind: e.next, X: int8((10 - n) / 2), Y: 30}
	for slices.ContainsFunc(slowCells(b), func(c [2]int) bool { return c[1] > 19 }) {
		b.Y--
	}
	e.piece, e.next, e.active, e.newPiece = b, e.draw(), true, true
	e.over = !e.f.fits(b)
}

func (e *slowEngine) tick(bits int) {
	e.newPiece = false
	left, right, cw, ccw, drop := bits&1 != 0, bits&2 != 0, bits&4 != 0, bits&8 != 0, bits&16 != 0
	if left && right || cw && ccw {
		e.conflicts++
	}
	move := func(wanted bool, to Block) {
		if wanted && e.f.fits(to) {
			e.piece = to
		} else if wanted {
			e.blocked++
		}
	}
	move(cw && !ccw, e.piece.Turned(1))
	move(ccw && !cw, e.piece.Turned(-1))
	move(left && !right, e.piece.Moved(-1, 0))
	move(right && !left, e.piece.Moved(1, 0))
	if drop {
		e.piece = e.f.fall(e.piece)
	}
	if down := e.piece.Moved(0, -1); e.f.fits(down) {
		e.piece = down
	} else {
		e.lock()
	}
}

func (e *slowEngine) lock() {
	e.over = slices.ContainsFunc(slowCells(e.piece), func(c [2]int) bool { return c[1] >= Height })
	if e.over {
		return
	}
	level := 1 + e.lines/10
	n := e.f.put(e.piece)
	e.lines += n
	e.points += []int{0, 40, 100, 300, 1200}[n] * level
	e.spawn()
}
