package blocking

import "math/bits"

// A scan visits the anchors of a position, row by row, with the fits of a block that are legal there.
type scan struct {
	b       *block
	free    rows   // cells that pieces may cover
	anchors Board  // to come
	may     fitSet // of the letters that may be laid
	fits    fitSet // at the anchor
	x, y    uint   // the anchor
}

// start begins a scan of a seat's placements. A placement that covers several connected cells
// is a fit at the first of them only.
func (s *scan) start(b *block, allowed, connected *Board, letters uint32) {
	s.b, s.anchors = b, *connected
	s.free.set(allowed)
	l, i := &b.letters, letters
	a, c, d := &l[0][i&15], &l[1][i>>4&15], &l[2][i>>8&15]
	e, f, g := &l[3][i>>12&15], &l[4][i>>16&15], &l[5][i>>20&15]
	for k := range s.may {
		s.may[k] = a[k] | c[k] | d[k] | e[k] | f[k] | g[k]
	}
}

// next moves to the next anchor. It returns false if there is none.
func (s *scan) next() bool {
	for k := range s.anchors {
		if s.anchors[k] == 0 {
			continue
		}
		at := uint(bits.TrailingZeros64(s.anchors[k]))
		s.anchors[k] &= s.anchors[k] - 1
		s.x, s.y = at%stride, uint(k)*4+at/stride
		w := s.free.window(s.x, s.y)
		s.free[s.y+border] &^= 1 << (s.x + border)
		of := &s.b.free
		a, b, c := &of[0][uint8(w)], &of[1][uint8(w>>8)], &of[2][uint8(w>>16)]
		d, e := &of[3][uint8(w>>24)], &of[4][uint8(w>>32)]
		for i := range s.fits {
			s.fits[i] = s.may[i] & a[i] & b[i] & c[i] & d[i] & e[i]
		}
		return true
	}
	return false
}

// A Survey is what a seat can place.
type Survey struct {
	Places  int    // placements
	Letters uint32 // with a placement
	Cover   Board  // cells that some placement covers
}

// Survey returns what can be placed of some letters, on allowed cells and at least one connected
// cell; see State.Open.
func (t *Table) Survey(allowed, connected *Board, letters uint32) (out Survey) {
	var s scan
	var cover rows
	for _, b := range t.blocks {
		for s.start(b, allowed, connected, letters); s.next(); {
			trace := uint64(0)
			for k := range s.fits {
				w, of := s.fits[k], b.traces[64*k:64*k+64]
				out.Places += bits.OnesCount64(w)
				for ; w != 0; w &= w - 1 {
					trace |= of[bits.TrailingZeros64(w)&63]
				}
			}
			if trace != 0 {
				out.Letters |= uint32(trace >> (8 * parts))
				cover.add(s.x, s.y, window(trace))
			}
		}
	}
	out.Cover = cover.board()
	return out
}
