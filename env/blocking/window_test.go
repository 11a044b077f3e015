package blocking

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/env"
)

// around lists the cells of each part of a window, from the anchor.
var around = [parts][8][2]int{
	{{-4, 0}, {-3, 0}, {-2, 0}, {-1, 0}, {1, 0}, {2, 0}, {3, 0}, {4, 0}},
	{{-3, -1}, {-2, -1}, {-1, -1}, {0, -1}, {1, -1}, {2, -1}, {3, -1}, {0, -4}},
	{{-3, 1}, {-2, 1}, {-1, 1}, {0, 1}, {1, 1}, {2, 1}, {3, 1}, {0, 4}},
	{{-2, -2}, {-1, -2}, {0, -2}, {1, -2}, {2, -2}, {-1, -3}, {0, -3}, {1, -3}},
	{{-2, 2}, {-1, 2}, {0, 2}, {1, 2}, {2, 2}, {-1, 3}, {0, 3}, {1, 3}},
}

func TestWindowsAgreeWithCells(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 100 {
		b := Board{rng.Uint64() & inRow, rng.Uint64() & inRow, rng.Uint64() & inRow, rng.Uint64() & inLast}
		var r rows
		r.set(&b)
		require.Equal(t, b, r.board())
		for at := range Size * Size {
			x, y := at%Size, at/Size
			want, whole, found := window(0), window(0), Board{}
			found.Set(x, y)
			for p := range around {
				for i, d := range around[p] {
					x, y := x+d[0], y+d[1]
					whole |= 1 << (8*p + i)
					if x < 0 || y < 0 || x >= Size || y >= Size || !b.Has(x, y) {
						continue
					}
					want |= 1 << (8*p + i)
					found.Set(x, y)
				}
			}
			got := r.window(uint(x), uint(y))
			require.Equal(t, want, got, "%d, %d", x, y)
			var cells, beyond rows
			cells.add(uint(x), uint(y), got)
			require.Equal(t, found, cells.board(), "%d, %d", x, y)
			beyond.add(uint(x), uint(y), whole)
			require.Equal(t, whole, beyond.window(uint(x), uint(y)), "the border too")
		}
	}
}

// The fits of a block say which placements they are.
func TestFitsNamePlacements(t *testing.T) {
	for _, table := range []*Table{DefaultTable, upsideDown(t)} {
		seen, all := map[[3]int]bool{}, 0
		for _, b := range table.blocks {
			for i := range b.n {
				for y := range Size {
					for x := range Size {
						var want Board
						want.Set(x, y)
						inside := true
						for p := range around {
							for c, d := range around[p] {
								if b.traces[i]>>(8*p+c)&1 == 0 {
									continue
								}
								x, y := x+d[0], y+d[1]
								if inside = inside && x >= 0 && y >= 0 && x < Size && y < Size; inside {
									want.Set(x, y)
								}
							}
						}
						if !inside {
							continue
						}
						a := env.Action(b.ids[y][i/64][i%64]) + env.Action(x)
						o, left, top := table.Placement(a)
						var got Board
						for _, c := range o.Cells {
							got.Set(left+int(c.X), top+int(c.Y))
						}
						if letter := b.traces[i] >> (8 * parts); got != want || letter != 1<<o.Letter {
							require.Fail(t, "another placement", "%s, anchor %d, %d", table.Text(a), x, y)
						}
						all++
						seen[[3]int{int(a), x, y}] = true
					}
				}
			}
		}
		require.Len(t, seen, all, "no fit twice")
		squares := 0
		for i := range table.Oriented {
			o := &table.Oriented[i]
			squares += len(o.Cells) * (Size + 1 - o.W) * (Size + 1 - o.H)
		}
		require.Equal(t, squares, all)
	}
}
