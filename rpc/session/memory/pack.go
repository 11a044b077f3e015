package memory

import (
	"encoding/binary"
	"unsafe"
)

// Pack packs cells of bits bits each (1, 2, 4 or 8), eight at a time.
func Pack(dst, cells []byte, bits int) {
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

// Bytes returns the memory of v as bytes, little endian like this machine.
func Bytes[T ~float32 | ~int32 | ~uint64 | ~uint32 | ~uint16](v []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), len(v)*int(unsafe.Sizeof(*new(T))))
}

// Words returns the numbers that lie in b, which is aligned to them, in the byte order of this machine.
func Words[T ~float32 | ~uint16](b []byte) []T {
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/int(unsafe.Sizeof(*new(T))))
}
