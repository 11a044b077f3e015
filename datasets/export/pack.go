package export

// pack writes cells with so many bits each, the lowest bits of a byte first.
func pack(dst, cells []uint8, bits int) {
	clear(dst)
	per := 8 / bits
	for k, c := range cells {
		dst[k/per] |= c << (k % per * bits)
	}
}
