//go:build cgo

package main

/*
#include "wintetris.h"

// cgo declares the arguments of exported functions as const only with such types.
typedef const char wt_text;
typedef const wt_field wt_field_in;
typedef const wt_block wt_block_in;
*/
import "C"

import (
	"errors"
	"fmt"
	"unsafe"

	"blockyard/agents/submit/wintetris/handles"
	"blockyard/datasets/program/capi"
	"blockyard/env/wintetris"
)

// maxStruct is the largest accepted size of a struct, far beyond any later version.
const maxStruct = 4096

var solvers = handles.NewTable(newSolver)

//export wt_abi_version
func wt_abi_version() C.int32_t { return C.WT_ABI }

//export wt_open
func wt_open(options *C.wt_text) C.int64_t {
	if wild(unsafe.Pointer(options)) {
		return C.int64_t(solvers.Open(func() string { panic(errWild) }))
	}
	return C.int64_t(solvers.Open(func() string { return C.GoString((*C.char)(options)) }))
}

var errWild = errors.New("no address of memory")

// wild reports whether p is neither null nor an address that memory may have. Go's garbage collector ends a program in
// whose variables it meets such a pointer.
func wild(p unsafe.Pointer) bool {
	const page, bits = 4096, 56
	at := uintptr(p)
	return at != 0 && (at < page || uint64(at)>>bits != 0)
}

//export wt_update
func wt_update(solver C.int64_t, field *C.wt_field_in, current *C.wt_block_in, next *C.wt_block_in,
	new_piece C.int32_t) C.int32_t {
	var given handles.Request
	var err error
	switch { // now, and not when it is the solver's turn; see wild
	case wild(unsafe.Pointer(field)):
		err = fmt.Errorf("field: %w", errWild)
	case wild(unsafe.Pointer(current)):
		err = fmt.Errorf("current: %w", errWild)
	case wild(unsafe.Pointer(next)):
		err = fmt.Errorf("next: %w", errWild)
	default:
		err = capi.Guard("reading the arguments", func() error {
			given.NewPiece = new_piece != 0
			return read(&given, (*C.wt_field)(field), (*C.wt_block)(current), (*C.wt_block)(next))
		})
	}
	return C.int32_t(solvers.Update(int64(solver), func(q *handles.Request) error {
		*q = given
		return err
	}))
}

// read copies the caller's structs.
func read(q *handles.Request, field *C.wt_field, current, next *C.wt_block) (err error) {
	switch {
	case field == nil:
		return errors.New("field: null pointer")
	case !sized(field.size, unsafe.Sizeof(*field), unsafe.Alignof(*field)):
		return fmt.Errorf("field: size %d, want %d", field.size, unsafe.Sizeof(*field))
	case field.width != wintetris.Width || field.height != wintetris.Height:
		return fmt.Errorf("field: %d by %d, want %d by %d", field.width, field.height, wintetris.Width, wintetris.Height)
	case field.cells == nil:
		return errors.New("field: cells: null pointer")
	case wild(unsafe.Pointer(field.cells)):
		return fmt.Errorf("field: cells: %w", errWild)
	}
	q.Field = handles.Field((*[wintetris.Width * wintetris.Height]uint8)(unsafe.Pointer(field.cells)))
	if q.Current, err = block("current", current); err != nil {
		return err
	}
	q.Next, err = block("next", next)
	return err
}

func block(name string, b *C.wt_block) (wintetris.Block, error) {
	switch {
	case b == nil:
		return wintetris.Block{}, fmt.Errorf("%s: null pointer", name)
	case !sized(b.size, unsafe.Sizeof(*b), unsafe.Alignof(*b)):
		return wintetris.Block{}, fmt.Errorf("%s: size %d, want %d", name, b.size, unsafe.Sizeof(*b))
	}
	return handles.Block(name, int32(b.kind), int32(b.rotation), int32(b.x), int32(b.y))
}

// sized reports whether a struct's size is ours, or that of a later version with members added at the end.
func sized(size C.uint32_t, want, align uintptr) bool {
	return uintptr(size) >= want && size <= maxStruct && uintptr(size)%align == 0
}

//export wt_close
func wt_close(solver C.int64_t) C.int32_t {
	return C.int32_t(solvers.Close(int64(solver)))
}

//export wt_last_error
func wt_last_error(solver C.int64_t, buf *C.char, size C.int32_t) C.int32_t {
	if wild(unsafe.Pointer(buf)) {
		buf = nil // which Write refuses
	}
	text, err := solvers.LastError(int64(solver))
	switch {
	case err != nil:
		return C.int32_t(handles.BadHandle)
	case size != 0 && capi.Write(text, unsafe.Pointer(buf), int(size)) != nil:
		return C.int32_t(handles.BadArgument)
	}
	return C.int32_t(len(text))
}
