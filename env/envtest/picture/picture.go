// Package picture draws the pictures of a game's rules as small SVG files: boards and pieces as grids of
// cells, readable on light and on dark pages. A test of the game draws them from the game's own tables
// and calls Keep, which compares them with the files or, with BLOCKYARD_UPDATE=1, writes the files.
package picture

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"blockyard/env/envtest"
	"blockyard/env/paint"
)

// A Look is how a cell is drawn: the name of a class of the style sheet.
type Look string

// The looks. Those of pieces are the colours of the viewer in a light tint.
const (
	Empty                      Look = "e"
	Filled                     Look = "x"
	Solid                      Look = "s"
	Red                        Look = "r"
	Blue                       Look = "j"
	Green                      Look = "t"
	RedZone, MidZone, BlueZone Look = "zr", "zm", "zb"
	Shade                      Look = "h" // hidden rows, or room outside the board
)

// Inks are the looks of the seven tetrominoes, I J L O S T Z.
var Inks = [7]Look{"i", "j", "l", "o", "t", "v", "z"}

// A Panel is a grid of cells with a caption. Rows draws them, a character per cell; a blank is no cell.
type Panel struct {
	Caption string
	Rows    []string
	Looks   map[byte]Look     // of characters other than those of Usual
	Texts   map[[2]int]string // texts in cells, by column and row
	Left    []string          // a label before each row
	Right   []string          // and after it
	Lines   []int             // rows with a strong line above
	Columns bool              // numbers under the columns
}

// Draw returns rows of cells, each of which is given by its column and row.
func Draw(width, height int, cell func(x, y int) byte) []string {
	rows := make([]string, height)
	for y := range rows {
		row := make([]byte, width)
		for x := range row {
			row[x] = cell(x, y)
		}
		rows[y] = string(row)
	}
	return rows
}

// Numbers are labels from first to last, up or down.
func Numbers(first, last int) (labels []string) {
	for n := first; n != last; n += cmp.Compare(last, first) {
		labels = append(labels, fmt.Sprint(n))
	}
	return append(labels, fmt.Sprint(last))
}

// Letters are the looks of seven pieces by their letters, which stand in the order of Inks.
func Letters(letters string) map[byte]Look {
	looks := map[byte]Look{}
	for k, look := range Inks {
		looks[letters[k]] = look
	}
	return looks
}

// Pairs joins each two rows of panels.
func Pairs(rows [][]Panel) (pairs [][]Panel) {
	for pair := range slices.Chunk(rows, 2) {
		pairs = append(pairs, slices.Concat(pair...))
	}
	return pairs
}

// Usual are the looks of the usual characters.
var Usual = map[byte]Look{'.': Empty, '#': Filled, '=': Solid, ':': Shade}

const (
	side    = 12 // of a cell, in pixels
	gap     = 14 // between panels
	caption = 15 // height of a caption
)

// style has the colours of env/paint. Pieces are light on every page, because texts on them are dark.
var style = func() string {
	const tint = .16 // of a zone
	var out strings.Builder
	out.WriteString("text{font:10px sans-serif}.m,.n{font-size:9px;text-anchor:middle}.b{stroke-width:1.5}")
	for k, look := range append(Inks[:], Red) {
		ink := k + 1
		if look == Red {
			ink = 15
		}
		fmt.Fprintf(&out, ".%s{fill:%s}", look, paint.Mix(paint.Light.Ink[ink], paint.Light.Surface, .25))
	}
	for _, theme := range []*paint.Theme{&paint.Light, &paint.Dark} {
		if theme == &paint.Dark {
			out.WriteString("@media(prefers-color-scheme:dark){")
		}
		zone := func(ink int) string { return paint.Mix(theme.Surface, theme.Ink[ink], tint) }
		fmt.Fprintf(&out, "text{fill:%s}.w{stroke:%s}.b{stroke:%[1]s}", theme.Text, theme.Surface)
		for _, c := range []struct {
			look   Look
			colour string
		}{
			{"n", paint.Light.Text}, {"k", theme.Surface}, {Empty, zone(8)}, {Filled, theme.Ink[8]}, {Solid, theme.Muted},
			{Shade, zone(4)}, {RedZone, zone(15)}, {MidZone, zone(8)}, {BlueZone, zone(2)},
		} {
			fmt.Fprintf(&out, ".%s{fill:%s}", c.look, c.colour)
		}
	}
	out.WriteString("}")
	return out.String()
}()

// SVG draws rows of panels, under a title that readers without pictures get.
func SVG(title string, rows ...[]Panel) string {
	var body strings.Builder
	width, y := 0, gap/2
	for _, row := range rows {
		x, height := gap/2, 0
		for k := range row {
			w, h := row[k].draw(&body, x, y)
			x += w + gap
			height = max(height, h)
		}
		width = max(width, x-gap/2)
		y += height + gap/2
	}
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %[1]d %d" role="img">`+
		"<title>%s</title><style>%s</style>\n<rect class=\"k\" width=\"100%%\" height=\"100%%\" rx=\"4\"/>\n%s</svg>\n",
		width, y, escape(title), style, body.String())
}

var escape = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace

// draw appends a panel and returns its size.
func (p *Panel) draw(out *strings.Builder, x, y int) (w, h int) {
	const letter = 6 // about the width of a letter of a caption
	label := func(class string, x, y int, text string) {
		if text != "" {
			fmt.Fprintf(out, `<text%s x="%d" y="%d">%s</text>`, class, x, y, escape(text))
		}
	}
	if p.Caption != "" {
		label("", x, y+10, p.Caption)
		out.WriteString("\n")
		w, y = letter*len([]rune(p.Caption)), y+caption
		h = caption
	}
	for r, text := range p.Left {
		label("", x, y+r*side+10, text)
	}
	if len(p.Left) > 0 {
		x += 2 * side
	}
	fmt.Fprintf(out, `<g transform="translate(%d %d)">`, x, y)
	columns := p.cells(out)
	for _, r := range p.Lines {
		fmt.Fprintf(out, `<path class="b" d="M0 %dh%d"/>`, r*side, columns*side)
	}
	for r, row := range p.Rows {
		for c := range len(row) {
			class := ` class="n"` // on a coloured cell
			if p.look(row[c]) == Empty || p.look(row[c]) == "" {
				class = ` class="m"`
			}
			label(class, c*side+side/2, r*side+9, p.Texts[[2]int{c, r}])
		}
	}
	for r, text := range p.Right {
		label("", columns*side+5, r*side+10, text)
	}
	if p.Columns {
		for c := range columns {
			if c <= 9 || c%2 == 0 { // there is no room for all numbers of two digits
				label(` class="m"`, c*side+side/2, len(p.Rows)*side+10, fmt.Sprint(c))
			}
		}
		h += side
	}
	out.WriteString("</g>\n")
	if len(p.Left) > 0 {
		columns += 2
	}
	if len(p.Right) > 0 {
		columns += 4
	}
	return max(w, columns*side), h + len(p.Rows)*side
}

// cells appends the cells, a path for each look, and the lines between them. It returns the number of columns.
func (p *Panel) cells(out *strings.Builder) (columns int) {
	var order []Look
	paths := map[Look]string{}
	for r, row := range p.Rows {
		columns = max(columns, len(row))
		for c := 0; c < len(row); {
			n := 1
			for c+n < len(row) && row[c+n] == row[c] {
				n++
			}
			if look := p.look(row[c]); look != "" {
				if paths[look] == "" {
					order = append(order, look)
				}
				paths[look] += fmt.Sprintf("M%d %dh%dv%dh-%dz", c*side, r*side, n*side, side, n*side)
			}
			c += n
		}
	}
	for _, look := range order {
		fmt.Fprintf(out, `<path class="%s" d="%s"/>`, look, paths[look])
	}
	grid := ""
	for r := 1; r < len(p.Rows); r++ {
		grid += fmt.Sprintf("M0 %dh%d", r*side, columns*side)
	}
	for c := 1; c < columns; c++ {
		grid += fmt.Sprintf("M%d 0v%d", c*side, len(p.Rows)*side)
	}
	fmt.Fprintf(out, `<path class="w" d="%s"/>`, cmp.Or(grid, "M0 0"))
	return columns
}

func (p *Panel) look(c byte) Look {
	if look, ok := p.Looks[c]; ok {
		return look
	}
	return Usual[c]
}

// most is how large a picture may be, in bytes.
const most = 24 << 10

// Keep compares a picture with the file of that name in the folder pictures. With BLOCKYARD_UPDATE=1
// it writes the file.
func Keep(t *testing.T, name, svg string) {
	t.Helper()
	if len(svg) > most {
		t.Errorf("picture %s has %d bytes, want at most %d", name, len(svg), most)
	}
	path := filepath.Join("pictures", name+".svg")
	if envtest.Updating() {
		if err := os.MkdirAll("pictures", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(svg), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	kept, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (BLOCKYARD_UPDATE=1 draws it)", err)
	}
	if string(kept) != svg {
		t.Errorf("%s is not what the code draws now: look at it and draw it again with BLOCKYARD_UPDATE=1", path)
	}
}
