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
	"runtime/debug"
	"unsafe"

	"blockyard/agents/submit/wintetris/handles"
	"blockyard/env/wintetris"
)

// maxStruct is the largest accepted size of a struct, far beyond any later version.
const maxStruct = 4096

var solvers = handles.NewTable(newSolver)

// guard turns a panic, such as a fault at an address of the caller, into an error code. Exported functions defer it.
func guard(code *C.int32_t, as int32) {
	if r := recover(); r != nil {
		*code = C.int32_t(as)
	}
}

//export wt_abi_version
func wt_abi_version() C.int32_t { return C.WT_ABI }

//export wt_open
func wt_open(options *C.wt_text) (handle C.int64_t) {
	defer func() {
		if r := recover(); r != nil {
			solvers.FailOpen(fmt.Errorf("options: %v", r))
		}
	}()
	debug.SetPanicOnFault(true)
	text, err := optionText(unsafe.Pointer(options))
	if err != nil {
		solvers.FailOpen(err)
		return 0
	}
	return C.int64_t(solvers.Open(text))
}

// optionText copies the caller's text, which ends within MaxOptions.
func optionText(p unsafe.Pointer) (string, error) {
	if p == nil {
		return "", nil
	}
	var text []byte
	for i := 0; i <= handles.MaxOptions; i++ {
		c := *(*byte)(unsafe.Add(p, i))
		if c == 0 {
			return string(text), nil
		}
		text = append(text, c)
	}
	return "", fmt.Errorf("options: longer than %d bytes", handles.MaxOptions)
}

//export wt_update
func wt_update(solver C.int64_t, field *C.wt_field_in, current *C.wt_block_in, next *C.wt_block_in,
	new_piece C.int32_t) (answer C.int32_t) {
	defer guard(&answer, handles.Internal)
	debug.SetPanicOnFault(true)
	q := handles.Request{NewPiece: new_piece != 0}
	if err := read(&q, (*C.wt_field)(field), (*C.wt_block)(current), (*C.wt_block)(next)); err != nil {
		return C.int32_t(solvers.Refuse(int64(solver), err))
	}
	return C.int32_t(solvers.Update(int64(solver), &q))
}

// read copies the caller's structs. An address that cannot be read is an error.
func read(q *handles.Request, field *C.wt_field, current, next *C.wt_block) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("reading the arguments: %v", r)
		}
	}()
	switch {
	case field == nil:
		return errors.New("field: null pointer")
	case !sized(field.size, unsafe.Sizeof(*field), unsafe.Alignof(*field)):
		return fmt.Errorf("field: size %d, want %d", field.size, unsafe.Sizeof(*field))
	case field.width != wintetris.Width || field.height != wintetris.Height:
		return fmt.Errorf("field: %d by %d, want %d by %d", field.width, field.height, wintetris.Width, wintetris.Height)
	case field.cells == nil:
		return errors.New("field: cells: null pointer")
	}
	q.Cells = *(*[handles.Cells]uint8)(unsafe.Pointer(field.cells))
	if q.Current, err = block("current", current); err != nil {
		return err
	}
	q.Next, err = block("next", next)
	return err
}

func block(name string, b *C.wt_block) (handles.Block, error) {
	switch {
	case b == nil:
		return handles.Block{}, fmt.Errorf("%s: null pointer", name)
	case !sized(b.size, unsafe.Sizeof(*b), unsafe.Alignof(*b)):
		return handles.Block{}, fmt.Errorf("%s: size %d, want %d", name, b.size, unsafe.Sizeof(*b))
	}
	return handles.Block{Kind: int32(b.kind), Rotation: int32(b.rotation), X: int32(b.x), Y: int32(b.y)}, nil
}

// sized reports whether a struct's size is ours, or that of a later version with members added at the end.
func sized(size C.uint32_t, want, align uintptr) bool {
	return uintptr(size) >= want && size <= maxStruct && uintptr(size)%align == 0
}

//export wt_close
func wt_close(solver C.int64_t) (code C.int32_t) {
	defer guard(&code, handles.Internal)
	return C.int32_t(solvers.Close(int64(solver)))
}

//export wt_last_error
func wt_last_error(solver C.int64_t, buf *C.char, size C.int32_t) (length C.int32_t) {
	defer guard(&length, handles.BadArgument)
	debug.SetPanicOnFault(true)
	text, ok := solvers.LastError(int64(solver))
	switch {
	case !ok:
		return C.int32_t(handles.BadHandle)
	case size < 0 || buf == nil && size > 0:
		return C.int32_t(handles.BadArgument)
	case size > 0:
		room := unsafe.Slice((*byte)(unsafe.Pointer(buf)), min(int(size), len(text)+1))
		room[copy(room[:len(room)-1], text)] = 0
	}
	return C.int32_t(len(text))
}
