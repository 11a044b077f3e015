package wintetris

import (
	"math/rand/v2"
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
