package paint

import (
	"fmt"
	"hash/fnv"
	"html"
	"maps"
	"slices"
	"strings"

	"blockyard/env"
)

// Measures of a picture, in pixels.
const (
	pad, between   = 18, 22 // around everything, between columns
	highest        = 430    // of a board
	head, small    = 15, 12.5
	letter         = .6  // width of a letter for the size of its font
	trayWidth      = 190 // of the pieces that a seat has left
	largest, least = 22, 4
)

const font = "system-ui,'Segoe UI',Roboto,'Helvetica Neue','Noto Sans','DejaVu Sans',sans-serif"

// A drawing is the parts of a picture, and its size so far.
type drawing struct {
	*Theme
	bySeat        bool
	size          float64 // of a cell
	body          strings.Builder
	lit           map[string]bool // colours of blocks, which have light on them
	width, height float64
}

// SVG draws a frame: its boards, below a title unless that is empty, the trays to their right and the notes below. The
// picture needs no other file, and many of them can stand on one page.
func SVG(f *env.Frame, title string, t *Theme) string {
	boards, trays, bySeat := Arrange(f)
	d := &drawing{Theme: t, bySeat: bySeat, lit: map[string]bool{}, size: largest}
	named := func(b *env.Board) bool { return b.Name != "" && b.Name != "board" && (len(boards) > 1 || title == "") }
	top, left := float64(pad), float64(pad)
	if title != "" {
		d.text(pad, pad+13, title, head, 650, t.Text)
		top += 24
	}
	for _, b := range boards {
		d.size = max(least, min(d.size, float64(highest/max(b.H, 1))))
	}
	if slices.ContainsFunc(boards, named) {
		top += 20
	}
	for _, b := range boards {
		wide := float64(b.W)*d.size + 6
		if named(b) {
			d.text(left, top-8, b.Name, small, 400, t.Muted)
			wide = max(wide, length(b.Name, small))
		}
		d.board(b, left, top)
		left += wide + between
		d.height = max(d.height, top+float64(b.H)*d.size+6)
	}
	d.width = max(d.width, left-between)
	d.trays(trays, left, top)
	for _, note := range f.Notes {
		for _, part := range strings.FieldsFunc(note, func(r rune) bool { return r == '|' || r == '\n' }) {
			d.height += 18
			d.text(pad, d.height+4, strings.TrimSpace(part), small, 400, t.Muted)
		}
	}
	return d.sheet(strings.TrimPrefix(strings.Join(append([]string{title}, f.Notes...), ", "), ", "))
}

// sheet puts the parts on a sheet. The names in a picture depend on its content: a page may contain many pictures.
func (d *drawing) sheet(label string) string {
	body := d.body.String()
	hash := fnv.New64a()
	hash.Write([]byte(body + d.Surface))
	name := fmt.Sprintf("b%x", hash.Sum64())
	w, h := int(d.width+pad+.5), int(d.height+pad+.5)
	var defs strings.Builder
	fmt.Fprintf(&defs, `<pattern id="%s-e" width="%d" height="%[2]d" patternUnits="userSpaceOnUse">`+
		`<rect x="%d" y="%[3]d" width="%d" height="%[4]d" rx="%d" fill="%s"/></pattern>`,
		name, unit, gap, unit-2*gap, flat, d.Ink[0])
	for _, hex := range slices.Sorted(maps.Keys(d.lit)) {
		s := shape{colour: hex, lit: true}
		fmt.Fprintf(&defs, `<linearGradient id="%s-%s" x2="0" y2="%d" gradientUnits="userSpaceOnUse" `+
			`spreadMethod="repeat"><stop stop-color="%s"/><stop offset=".5" stop-color="%s"/>`+
			`<stop offset="1" stop-color="%s"/></linearGradient>`,
			name, hex[1:], unit, s.at(0), hex, s.at(1))
	}
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d" `+
		`role="img" aria-label="%s" font-family="%s"><defs>%s</defs>`+
		`<rect x=".5" y=".5" width="%d" height="%d" rx="14" fill="%s" stroke="%s"/>%s</svg>`,
		w, h, html.EscapeString(label), font, defs.String(), w-1, h-1, d.Surface, d.Line,
		strings.ReplaceAll(body, "url(#", "url(#"+name+"-"))
}

func length(text string, size float64) float64 { return letter * size * float64(len([]rune(text))) }

func (d *drawing) text(x, y float64, text string, size float64, weight int, colour string) {
	d.width = max(d.width, x+length(text, size))
	fmt.Fprintf(&d.body, `<text x="%.5g" y="%.5g" font-size="%g" font-weight="%d" fill="%s">%s</text>`,
		x, y, size, weight, colour, html.EscapeString(text))
}

// board draws a board with its empty cells and the lines between zones.
func (d *drawing) board(b *env.Board, x, y float64) {
	fmt.Fprintf(&d.body, `<rect x="%.5g" y="%.5g" width="%.5g" height="%.5g" rx="7" fill="%s" stroke="%s"/>`,
		x+.5, y+.5, float64(b.W)*d.size+5, float64(b.H)*d.size+5, d.Well, d.Line)
	lines := ""
	for _, row := range borders(b) {
		lines += fmt.Sprintf(`<path stroke="%s" stroke-width="3" d="M0 %dh%d"/>`, d.Muted, row*unit, b.W*unit)
	}
	empty := fmt.Sprintf(`<path fill="url(#e)" d="M0 0h%dv%dh-%[1]dz"/>`, b.W*unit, b.H*unit)
	d.cells(b, x+3, y+3, d.size, empty, lines)
}

// cells draws the cells of a board, one path for each colour and layer, between elements below and above them.
func (d *drawing) cells(b *env.Board, x, y, size float64, below, above string) {
	paths := map[string][]byte{}
	for k := range b.Cells {
		for layer, s := range d.cell(b, k%b.W, k/b.W, d.bySeat) {
			fill := s.colour
			if s.lit {
				d.lit[fill] = true
				fill = "url(#" + fill[1:] + ")"
			}
			fill = fmt.Sprintf(`%d fill="%s"`, layer, fill)
			paths[fill] = s.path(paths[fill], k%b.W, k/b.W)
		}
	}
	fmt.Fprintf(&d.body, `<g transform="translate(%.5g %.5g) scale(%.5g)">%s`, x, y, size/unit, below)
	for _, style := range slices.Sorted(maps.Keys(paths)) {
		fmt.Fprintf(&d.body, `<path%s d="%s"/>`, style[1:], paths[style])
	}
	d.body.WriteString(above + "</g>")
}

// path appends the outline of a shape in the cell in column x, row y: clockwise from the upper left corner.
func (s *shape) path(out []byte, x, y int) []byte {
	var r [5]int
	for k := range r {
		r[k] = s.corner((k+3)%4, k%4)
	}
	w, h := unit-s.side(1)-s.side(3), unit-s.side(0)-s.side(2)
	out = fmt.Appendf(out, "M%d %d", x*unit+s.side(3)+r[0], y*unit+s.side(0))
	for k, to := range [4][3]int{{1, 0, w}, {0, 1, h}, {-1, 0, w}, {0, -1, h}} {
		dx, dy, r, n := to[0], to[1], r[k+1], to[2]-r[k]-r[k+1]
		if out = fmt.Appendf(out, "%c%d", "hv"[k%2], (dx+dy)*n); r > 0 { // and on to the right
			out = fmt.Appendf(out, "q%d %d %d %d", dx*r, dy*r, (dx-dy)*r, (dy+dx)*r)
		}
	}
	return append(out, 'z')
}

// trays draws pieces to the right of the boards: those of a seat in rows, others in a column.
func (d *drawing) trays(trays []env.Tray, left, y float64) {
	for _, t := range trays {
		if len(t.Pieces) == 0 {
			continue
		}
		size, apart, widest, name, indent := max(6, .62*d.size), .9, 0.0, t.Name, 0.0
		if t.Seat != env.Everybody {
			size, apart, widest = max(5, min(8, .4*d.size)), 1.2, trayWidth
			name, indent = fmt.Sprintf("seat %d · %s", t.Seat, t.Name), 14
			fmt.Fprintf(&d.body, `<rect x="%.5g" y="%.5g" width="8" height="8" rx="4" fill="%s"/>`,
				left, y+4, d.Seat[t.Seat%len(d.Seat)])
		}
		d.text(left+indent, y+12, name, small, 400, d.Muted)
		x, high := left, 0.0
		y += 22
		for k := range t.Pieces {
			p := &t.Pieces[k]
			w, h := float64(p.W)*size, float64(p.H)*size
			if x > left && x+w > left+widest {
				x, y, high = left, y+high+apart*size, 0
			}
			d.cells(p, x, y, size, "", "")
			d.width = max(d.width, x+w)
			x, high = x+w+apart*size, max(high, h)
		}
		y += high + 20
		d.height = max(d.height, y-8)
	}
}
