package memory

import "unsafe"

// Bytes returns the memory of v as bytes, little endian like this machine.
func Bytes[T ~float32 | ~int32 | ~uint64 | ~uint32 | ~uint16](v []T) []byte {
	if len(v) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&v[0])), len(v)*int(unsafe.Sizeof(v[0])))
}
