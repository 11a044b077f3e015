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
	var text string
	if err := capi.Guard("options", func() (err error) {
		text, err = optionText(unsafe.Pointer(options))
		return err
	}); err != nil {
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
	new_piece C.int32_t) C.int32_t {
	q := handles.Request{NewPiece: new_piece != 0}
	if err := capi.Guard("reading the arguments", func() error {
		return read(&q, (*C.wt_field)(field), (*C.wt_block)(current), (*C.wt_block)(next))
	}); err != nil {
		return C.int32_t(solvers.Refuse(int64(solver), err))
	}
	return C.int32_t(solvers.Update(int64(solver), &q))
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
func wt_close(solver C.int64_t) C.int32_t {
	return C.int32_t(solvers.Close(int64(solver)))
}

//export wt_last_error
func wt_last_error(solver C.int64_t, buf *C.char, size C.int32_t) C.int32_t {
	text, ok := solvers.LastError(int64(solver))
	switch {
	case !ok:
		return C.int32_t(handles.BadHandle)
	case size != 0 && capi.Write(text, unsafe.Pointer(buf), int(size)) != nil:
		return C.int32_t(handles.BadArgument)
	}
	return C.int32_t(len(text))
}
