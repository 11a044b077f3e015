package paint_test

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/env"
	"blockyard/env/envtest"
	"blockyard/env/games"
	"blockyard/env/paint"
)

// drawn returns a frame of one board. I is a cell of a piece, i of its ghost, a digit of a seat; r and y are empty.
func drawn(inks map[byte]uint8, rows ...string) *env.Frame {
	kinds := map[byte]env.CellKind{':': env.CellZone, 'x': env.CellSettled, '#': env.CellWall, 'I': env.CellPiece,
		'i': env.CellGhost, '0': env.CellSeat, '1': env.CellSeat}
	var f env.Frame
	b := f.Add("board", len(rows[0]), len(rows))
	for k, glyph := range []byte(strings.Join(rows, "")) {
		b.Cells[k] = env.Cell{Kind: kinds[glyph], Letter: strings.ToUpper(string(glyph))[0], Ink: inks[glyph]}
	}
	return &f
}

// elements returns the elements of a picture with a name; a picture that is no XML fails the test.
func elements(t *testing.T, svg, name string) (all []map[string]string) {
	for d := xml.NewDecoder(strings.NewReader(svg)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return all
		}
		require.NoError(t, err)
		if e, ok := token.(xml.StartElement); ok && e.Name.Local == name {
			one := map[string]string{}
			for _, a := range e.Attr {
				one[a.Name.Local] = a.Value
			}
			all = append(all, one)
		}
	}
}

// cells returns how many shapes a picture has with a style.
func cells(svg, style string) (n int) {
	for _, path := range regexp.MustCompile(`<path `+regexp.QuoteMeta(style)+` d="([^"]*)"`).FindAllStringSubmatch(svg, -1) {
		n += strings.Count(path[1], "M")
	}
	return n
}

// pixel returns the middle of the cell in column x, row y of the first board.
func pixel(f *env.Frame, x, y int) [3]byte {
	pixels, width, _ := paint.Pixels(f)
	k := 3 * ((paint.Side+y*paint.Side+paint.Side/2)*width + paint.Side + x*paint.Side + paint.Side/2)
	return [3]byte(pixels[k:])
}

// Every game is drawn within its picture, the same each time, in pixels of a size that its boards alone decide.
func TestEveryGame(t *testing.T) {
	for _, g := range games.All {
		s := g.New(g.MaxSeats)
		s.Reset(3)
		f := envtest.Frame(s)
		for _, theme := range paint.Themes {
			svg := paint.SVG(f, g.ID, theme)
			require.Equal(t, svg, paint.SVG(f, g.ID, theme))
			require.Contains(t, svg, ">"+g.ID+"</text>")
			size := elements(t, svg, "svg")[0]
			for _, e := range elements(t, svg, "rect") {
				var x, y, w, h, width, height float64
				_, err := fmt.Sscan(strings.Join([]string{e["x"], e["y"], e["width"], e["height"], size["width"], size["height"]}, " "),
					&x, &y, &w, &h, &width, &height)
				require.NoError(t, err)
				require.True(t, x >= 0 && y >= 0 && x+w <= width && y+h <= height, "%s: %v in %v", g.Name, e, size)
			}
		}
		pixels, width, height := paint.Pixels(f)
		require.Len(t, pixels, 3*width*height)
		require.Zero(t, width%paint.Side)
		require.Zero(t, height%paint.Side)
	}
}

func TestCellsLookAsWhatTheyAre(t *testing.T) {
	f := drawn(map[byte]uint8{'I': 1, 'i': 1, 'x': 8, '#': 9}, "I..", "i:x", "x#.")
	dark := &paint.Dark
	svg := paint.SVG(f, "", dark)
	require.Len(t, elements(t, svg, "linearGradient"), 3, "the colours of blocks, which have light on them")
	require.Equal(t, 1, cells(svg, `fill="`+paint.Mix(dark.Ink[1], "#ffffff", .8)+`"`), "the rim of the piece")
	require.Equal(t, 1, cells(svg, `fill="`+dark.Ink[1]+`"`), "the outline of its ghost")
	require.Equal(t, 1, cells(svg, `fill="`+paint.Mix(dark.Ink[0], dark.Shade, .55)+`"`), "the marked cell")
	seen := map[[3]byte]bool{}
	for k := range 9 {
		seen[pixel(f, k%3, k/3)] = true
	}
	require.Len(t, seen, 6, "piece, empty, ghost, marked, settled, wall")
	require.Equal(t, pixel(f, 2, 1), pixel(f, 0, 2))
}

func TestZonesAreTintedAndSeparated(t *testing.T) {
	f := drawn(map[byte]uint8{'r': 15, 'y': 2, 'x': 8}, "rr", "rx", "::", "yy")
	light := &paint.Light
	svg := paint.SVG(f, "", light)
	require.Equal(t, 3, cells(svg, `fill="`+paint.Mix(light.Ink[0], light.Ink[15], .16)+`"`))
	require.Equal(t, 2, cells(svg, `fill="`+paint.Mix(light.Ink[0], light.Ink[2], .16)+`"`))
	border := `stroke="` + light.Muted + `" stroke-width="3"`
	require.Equal(t, 2, cells(svg, border))
	red, blue := pixel(f, 0, 0), pixel(f, 0, 3)
	require.Greater(t, red[0], red[2])
	require.Greater(t, blue[2], blue[0])
	require.Zero(t, cells(paint.SVG(drawn(map[byte]uint8{'x': 8}, ":.", ".x"), "", light), border))
}

func TestCellsOfASeatAreJoined(t *testing.T) {
	f := drawn(map[byte]uint8{'0': 1, '1': 2}, "00.", ".11")
	f.Tray("left", 1).Add(env.Cell{Kind: env.CellSeat, Letter: '1', Ink: 2}, 2, func(k int) (x, y int) { return k, 0 })
	svg := paint.SVG(f, "", &paint.Light)
	require.Equal(t, 2, cells(svg, `fill="`+paint.Light.Seat[0]+`"`))
	require.Equal(t, 4, cells(svg, `fill="`+paint.Light.Seat[1]+`"`))
	require.Contains(t, svg, "seat 1 · left")
	require.Empty(t, elements(t, svg, "linearGradient"), "cells of seats are flat")
}

func TestArrange(t *testing.T) {
	f := drawn(nil, "...")
	f.Boards[0].Name = "next to nothing" // the first board is one in any case
	f.Add("next 1", 4, 3).Set(1, 1, env.Cell{Kind: env.CellPiece, Letter: 'O', Ink: 4})
	f.Boards[1].Set(2, 2, env.Cell{Kind: env.CellPiece, Letter: 'O', Ink: 4})
	f.Add("next 2", 4, 3)
	boards, trays, seats := paint.Arrange(f)
	require.Len(t, boards, 1)
	require.False(t, seats)
	require.Len(t, trays, 1)
	require.Len(t, trays[0].Pieces, 1)
	require.Equal(t, "O..O", string(trays[0].Pieces[0].Glyphs()))
}

func TestTextsAreEscaped(t *testing.T) {
	f := drawn(nil, ".")
	f.Note(`<script>&"  |  more`)
	svg := paint.SVG(f, "<b>", &paint.Light)
	require.Len(t, elements(t, svg, "text"), 3, "a title and two lines of notes")
	require.Contains(t, svg, `<text x="18" y="31" font-size="15" font-weight="650" fill="#171a21">&lt;b&gt;</text>`)
	require.Equal(t, `<b>, <script>&"  |  more`, elements(t, svg, "svg")[0]["aria-label"])
}

// Names in a picture are its own: pictures of one page do not take each other's colours.
func TestPicturesShareNoNames(t *testing.T) {
	seen := map[string]bool{}
	for _, ink := range []uint8{1, 2} {
		svg := paint.SVG(drawn(map[byte]uint8{'I': ink}, "I."), "", &paint.Light)
		for _, name := range append(elements(t, svg, "pattern"), elements(t, svg, "linearGradient")...) {
			require.False(t, seen[name["id"]])
			require.Contains(t, svg, "url(#"+name["id"]+")")
			seen[name["id"]] = true
		}
	}
	require.Len(t, seen, 4)
}

func TestANSI(t *testing.T) {
	var f env.Frame
	b := f.Add("a name that is long", 2, 2)
	b.Set(0, 0, env.Cell{Kind: env.CellPiece, Letter: 'T', Ink: 6})
	b.Set(1, 0, env.Cell{Kind: env.CellZone})
	b.Set(0, 1, env.Cell{Ink: 2})                                    // a tint
	b.Set(1, 1, env.Cell{Kind: env.CellGhost, Letter: 'T', Ink: 17}) // inks are taken modulo 16
	f.Add("b", 1, 1)
	f.Note("round 1")
	require.Equal(t, "a name that is long   b    \n"+
		"\x1b[7;38;5;201mT \x1b[0m:    .    \n"+
		"\x1b[38;5;21m. \x1b[0m\x1b[7;38;5;51mt \x1b[0m        \n"+
		"round 1\n", paint.ANSI(&f))
	require.Empty(t, paint.ANSI(&env.Frame{Notes: nil})[1:], "an empty frame is an empty line")
}
