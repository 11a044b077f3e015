package wintetris

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/env"
	"blockyard/env/envtest"
	"blockyard/env/envtest/rulebook"
)

// TestEngineAgainstItsTwin plays ticks of random bits, likely to build and to clear, in both.
func TestEngineAgainstItsTwin(t *testing.T) {
	seed := envtest.Seed(t)
	for game := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, game))
		var e Engine
		e.Start(seed + game)
		slow := slowEngine{word: seed + game}
		slow.next = slow.draw()
		slow.spawn()
		for e.Over == Running {
			bits := rng.IntN(bitSets)
			if rng.IntN(4) > 0 { // as the placer would, toward a low place
				bits = int(Toward(e.Piece, low(rng, &e)))
			}
			require.Equal(t, slow.newPiece, e.New)
			e.Tick(Bits(bits))
			slow.tick(bits)
			require.Equal(t, slow.f.field(), e.Field)
			require.Equal(t, slow.over, e.Over != Running)
			require.Equal(t, []int{slow.lines, slow.points, slow.conflicts, slow.blocked},
				[]int{int(e.Lines), int(e.Points), int(e.Conflicts), int(e.Blocked)})
			if e.Over != LockOut {
				require.Equal(t, slow.piece, e.Piece)
				require.Equal(t, slow.next, e.Next)
			}
		}
	}
}

// low returns a random place of the piece, a low one so that games last.
func low(rng *rand.Rand, e *Engine) Block {
	moves := e.Field.Moves(e.Piece, nil)
	target := moves[rng.IntN(len(moves))]
	for range 5 {
		if m := moves[rng.IntN(len(moves))]; m.Top() < target.Top() {
			target = m
		}
	}
	return target
}

// TestMovesAgainstTheirTwin compares the move lists on rubbish of every height, from where a
// piece appears and from anywhere.
func TestMovesAgainstTheirTwin(t *testing.T) {
	rng := rand.New(rand.NewPCG(envtest.Seed(t), 2))
	for n := range 3_000 {
		var slow slowField
		for y := range rng.IntN(Height + 1) {
			for range 1 + rng.IntN(9) {
				slow[y][rng.IntN(Width)] = true
			}
		}
		if n%3 == 0 { // a spire or two
			for range 1 + rng.IntN(2) {
				x := rng.IntN(Width)
				for y := range rng.IntN(Height + 1) {
					slow[y][x] = true
				}
			}
		}
		for y := range slow {
			slow[y][rng.IntN(Width)] = false // no row is full between pieces
		}
		f := slow.field()
		b := Spawn(uint8(rng.IntN(Kinds)))
		if n%4 == 0 {
			b = Block{b.Kind, uint8(rng.IntN(4)), int8(rng.IntN(12) - 3), int8(rng.IntN(22) - 2)}
		}
		require.Equal(t, slow.fits(b), f.Fits(b))
		if !slow.fits(b) {
			continue
		}
		want := slow.moves(b)
		require.Equal(t, want, f.Moves(b, nil))
		for _, m := range want {
			checkRest(t, &slow, f, m)
		}
		if b == Spawn(b.Kind) {
			checkDistinct(t, &f, want)
		}
	}
}

// checkRest compares what is known of a resting place and what putting it comes to.
func checkRest(t *testing.T, slow *slowField, f Field, m Block) {
	cells := slowCells(m)
	got := m.Cells()
	require.ElementsMatch(t, cells, got[:])
	top := 0
	for _, c := range cells {
		top = max(top, c[1])
	}
	require.Equal(t, top, m.Top())
	if top >= Height {
		return
	}
	after := *slow
	require.Equal(t, after.put(m), f.Put(m))
	require.Equal(t, after.field(), f)
}

// checkDistinct compares with a list whose entries are told apart by their cells, and what is legal with both lists.
func checkDistinct(t *testing.T, f *Field, all []Block) {
	var want []Block
	seen := map[[4][2]int]bool{}
	for _, m := range all {
		first := m.First()
		require.Equal(t, m.Cells(), first.Cells())
		if !seen[m.Cells()] {
			seen[m.Cells()] = true
			want = append(want, m)
		}
	}
	spawn := Spawn(all[0].Kind)
	require.Equal(t, want, f.Distinct(spawn, nil))
	for mode, places := range map[Mode][]Block{Placement: all, Instant: want} {
		s := State{Mode: mode, Engine: Engine{Field: *f, Piece: spawn}}
		var inside []env.Action
		for _, m := range places {
			if m.Inside() {
				inside = append(inside, m.Action())
			}
		}
		require.Equal(t, inside, s.Legal(0, nil))
	}
}

// TestFirstPieces is the sequence of seed 1 (rules §11).
func TestFirstPieces(t *testing.T) {
	row := rulebook.Open(t, ".").Table(t, "sequence")[0]
	want := row["first pieces"]
	var e Engine
	e.Start(uint64(rulebook.Number(t, row["seed"])))
	got := string(Letters[e.Piece.Kind])
	for len(got) < len(want) {
		got += string(Letters[e.Next])
		e.Field = Field{}
		require.True(t, e.Tick(Drop), "a dropped piece locks")
	}
	require.Equal(t, want, got)
}

// TestStrictEngine loses by a conflict and not by anything else.
func TestStrictEngine(t *testing.T) {
	for bits := range Bits(64) {
		e := Engine{Strict: true}
		e.Start(3)
		e.Tick(bits)
		conflict := bits&(Left|Right) == Left|Right || bits&(CW|CCW) == CW|CCW
		require.Equal(t, conflict, e.Over == Conflict, "bits %b", bits)
	}
}

// TestPlaceAgainstItsTicks places pieces at once and by Tick and Toward, tick by tick.
func TestPlaceAgainstItsTicks(t *testing.T) {
	rng := rand.New(rand.NewPCG(envtest.Seed(t), 4))
	glides, parted := 0, 0
	for seed := range uint64(300) {
		var a Engine
		a.Start(seed)
		b := a
		parts := 1 + rng.IntN(5)
		for a.Over == Running {
			free, target := a, low(rng, &a)
			if ticks, locked := free.glide(target, parts); locked {
				glides++
			} else if ticks >= parts {
				parted++
			}
			a.Begin()
			a.Place(target, parts)
			a.End()
			for k, locked := 1, false; !locked; k++ {
				bits := Bits(0)
				if k >= parts {
					bits = Toward(b.Piece, target)
				}
				locked = b.Tick(bits)
			}
			require.Equal(t, b, a)
		}
	}
	require.Greater(t, glides, 1000)
	require.Greater(t, parted, 100)
}

// TestRowsAgainstCells compares what looks at several rows at a time with a look at each cell.
func TestRowsAgainstCells(t *testing.T) {
	rng := rand.New(rand.NewPCG(envtest.Seed(t), 6))
	plane, one := make([]uint8, Width*Height), map[bool]uint64{true: 1}
	for range 500 {
		var f Field
		top := 0
		for y := range rng.IntN(Height + 1) {
			if f[y] = uint16(rng.Uint32()&rng.Uint32()) & fullRow; f[y] != 0 {
				top = y + 1
			}
		}
		require.Equal(t, top, f.Top())
		for y := range Height {
			require.Equal(t, top <= y, f.Low(y))
		}
		paint(plane, &f)
		for at, cell := range plane {
			require.Equal(t, f.At(at%Width, Height-1-at/Width), cell == 1, "%v: byte %d of the plane", f, at)
		}
		for y := -4; y <= Height; y++ {
			window := uint64(0)
			for bit := range 64 {
				window |= one[f.At(bit%16, y+bit/16)] << bit
			}
			require.Equal(t, window, f.Window(y), "%v: at row %d", f, y)
		}
	}
}

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
