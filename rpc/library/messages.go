package main

// #include <stdint.h>
import "C"

import "unsafe"

//export blockyard_connect
func blockyard_connect() C.int64_t {
	_, number := connect()
	return number
}

//export blockyard_write
func blockyard_write(number C.int64_t, request unsafe.Pointer, size C.int64_t) C.int64_t {
	c := find(number)
	if c == nil {
		return -1
	}
	n, err := c.Write(unsafe.Slice((*byte)(request), size))
	if err != nil {
		return -1
	}
	return C.int64_t(n)
}

//export blockyard_read
func blockyard_read(number C.int64_t, into unsafe.Pointer, room C.int64_t) C.int64_t {
	c := find(number)
	if c == nil {
		return -1
	}
	n, _ := c.Read(unsafe.Slice((*byte)(into), room)) // whose only error is that there is nothing to read
	return C.int64_t(n)
}

//export blockyard_step_handle
func blockyard_step_handle(number C.int64_t, handle C.uint32_t, actions, slab unsafe.Pointer) C.int32_t {
	if c := find(number); c != nil && c.Step(uint32(handle), actions, slab) {
		return 0
	}
	return -1
}

//export blockyard_close
func blockyard_close(number C.int64_t) {
	if c := find(number); c != nil {
		connections.Delete(int64(number))
		_ = c.Close() // which never fails
	}
}
