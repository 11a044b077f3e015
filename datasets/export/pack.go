package export

import "blockyard/env"

// pack writes cells with so many bits each, the lowest bits of a byte first.
func pack(dst, cells []uint8, bits int) {
	clear(dst)
	per := 8 / bits
	for k, c := range cells {
		dst[k/per] |= c << (k % per * bits)
	}
}

// setMask writes legal actions as bits, the lowest bit of a byte first.
func setMask(dst []uint8, legal []env.Action) {
	clear(dst)
	for _, a := range legal {
		dst[a>>3] |= 1 << (a & 7)
	}
}
