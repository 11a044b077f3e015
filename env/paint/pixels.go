package paint

import (
	"fmt"
	"math"
	"strconv"

	"blockyard/env"
)

// Side is the side of a cell in pixels, and the margin around and between boards.
const Side = 16

func parse(hex string) int {
	v, _ := strconv.ParseUint(hex[1:], 16, 24)
	return int(v)
}

// Mix returns a colour with another one over it, both as "#rrggbb".
func Mix(hex, over string, opacity float64) string {
	a, b, out := parse(hex), parse(over), 0
	for k := 16; k >= 0; k -= 8 {
		from, to := float64(a>>k&255), float64(b>>k&255)
		out = out<<8 | int(math.Round(from+opacity*(to-from)))
	}
	return fmt.Sprintf("#%06x", out)
}

// Pixels draws the boards of f side by side in the light theme, without texts and trays: rows of pixels from the top,
// red, green and blue for each. The size depends only on the sizes of the boards, and corners are not round.
func Pixels(f *env.Frame) (pixels []byte, width, height int) {
	t := &Light
	boards, _, bySeat := Arrange(f)
	width, height = Side, 2*Side
	for _, b := range boards {
		width, height = width+b.W*Side+Side, max(height, b.H*Side+2*Side)
	}
	pixels = make([]byte, 3*width*height)
	fill := func(x, y, w, h int, hex string) {
		c := parse(hex)
		for k := range w * h {
			at := 3 * ((y+k/w)*width + x + k%w)
			pixels[at], pixels[at+1], pixels[at+2] = byte(c>>16), byte(c>>8), byte(c)
		}
	}
	fill(0, 0, width, height, t.Surface)
	left := Side
	for _, b := range boards {
		fill(left, Side, b.W*Side, b.H*Side, t.Well)
		for k := range b.Cells {
			x, y := left+k%b.W*Side, Side+k/b.W*Side
			for _, s := range append([]shape{t.empty()}, t.cell(b, k%b.W, k/b.W, bySeat)...) {
				up, left := s.pixels(0), s.pixels(3)
				wide, foot := Side-left-s.pixels(1), Side-s.pixels(2)
				for v := up; v < foot; v++ {
					fill(x+left, y+v, wide, 1, s.at(float64(v)/(Side-1)))
				}
			}
		}
		for _, y := range borders(b) {
			fill(left, Side+y*Side, b.W*Side, 1, t.Muted)
		}
		left += b.W*Side + Side
	}
	return pixels, width, height
}

// pixels returns how far from the edge of the cell a shape begins.
func (s *shape) pixels(side int) int { return (s.side(side)*Side + unit - 1) / unit }
