package server

import "encoding/binary"

// pack writes planes with as few bits a cell as hold it: cell j of a row in bits j*b …
// j*b+b-1, the lowest bit of the first byte being bit 0. On all cores.
func (h *handle) pack(dst, planes []byte) error {
	if h.packRow == nil {
		width, each, per, bits := h.game.Planes.Len(), h.game.PackedLen(), h.env.Rows(), h.game.CellBits()
		h.packRow = func(_, i int) {
			for row := i * per; row < (i+1)*per; row++ {
				packCells(h.packTo[row*each:(row+1)*each], h.packFrom[row*width:(row+1)*width], bits)
			}
		}
	}
	h.packTo, h.packFrom = dst, planes
	return h.env.Each(h.packRow)
}

// packCells packs cells of bits bits each (1, 2, 4 or 8), eight at a time.
func packCells(dst, cells []byte, bits int) {
	for ; len(cells) >= 8; cells, dst = cells[8:], dst[bits:] {
		x := binary.LittleEndian.Uint64(cells)
		switch bits {
		case 1:
			x = (x | x>>7) & 0x0003_0003_0003_0003
			x = (x | x>>14) & 0x0000_000F_0000_000F
			dst[0] = byte(x | x>>28)
		case 2:
			x = (x | x>>6) & 0x000F_000F_000F_000F
			x = (x | x>>12) & 0x0000_00FF_0000_00FF
			binary.LittleEndian.PutUint16(dst, uint16(x|x>>24))
		case 4:
			x = (x | x>>4) & 0x00FF_00FF_00FF_00FF
			x = (x | x>>8) & 0x0000_FFFF_0000_FFFF
			binary.LittleEndian.PutUint32(dst, uint32(x|x>>16))
		default:
			binary.LittleEndian.PutUint64(dst, x)
		}
	}
	clear(dst)
	for j, c := range cells {
		dst[j*bits/8] |= c << (j * bits % 8)
	}
}
