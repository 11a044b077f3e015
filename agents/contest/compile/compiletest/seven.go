package compiletest

import (
	"encoding/binary"
	"hash/crc32"
)

// Seven returns an archive of 7-Zip with this header.
func Seven(header []byte) string {
	start := binary.LittleEndian.AppendUint64(nil, 0)
	start = binary.LittleEndian.AppendUint64(start, uint64(len(header)))
	start = binary.LittleEndian.AppendUint32(start, crc32.ChecksumIEEE(header))
	text := append([]byte("7z\xbc\xaf\x27\x1c\x00\x04"), binary.LittleEndian.AppendUint32(nil, crc32.ChecksumIEEE(start))...)
	return string(append(append(text, start...), header...))
}
