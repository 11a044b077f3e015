package main

// #include <stdint.h>
import "C"

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"unsafe"

	"blockyard/rpc/wire/client"
)

//export blockyard_open
func blockyard_open(game, options *C.char) C.int64_t {
	c, number := connect()
	if c.err = c.open(C.GoString(game), options); c.err == nil {
		return number
	}
	setFailure(c.err)
	blockyard_close(number)
	return 0
}

// open opens games with options as JSON, or NULL.
func (c *connection) open(game string, options *C.char) (err error) {
	given := map[string]any{}
	if options != nil {
		if err := json.Unmarshal([]byte(C.GoString(options)), &given); err != nil {
			return fmt.Errorf("open %s: options: %w; want a JSON object", game, err)
		}
	}
	caller := client.New(c.Local)
	if err = caller.Hello(""); err == nil {
		c.games, err = caller.Open(game, native(given).(map[string]any))
	}
	return err
}

// native returns a value of JSON as the server expects it: whole numbers as integers, also where they name seats.
func native(v any) any {
	switch v := v.(type) {
	case float64:
		if v == math.Trunc(v) {
			return int64(v)
		}
	case []any:
		for i := range v {
			v[i] = native(v[i])
		}
	case map[string]any:
		seats := map[int]any{}
		for key := range v {
			v[key] = native(v[key])
			if seat, err := strconv.Atoi(key); err == nil {
				seats[seat] = v[key]
			}
		}
		if len(seats) > 0 {
			return seats
		}
	}
	return v
}

// opened returns the games of blockyard_open; if there are none, some of -1 rows and bytes.
func opened(number C.int64_t) *client.Games {
	if c := find(number); c != nil && c.games != nil {
		return c.games
	}
	return &client.Games{Rows: -1, Len: -1}
}

//export blockyard_rows
func blockyard_rows(number C.int64_t) C.int64_t {
	return C.int64_t(opened(number).Rows)
}

//export blockyard_slab_size
func blockyard_slab_size(number C.int64_t) C.int64_t {
	return C.int64_t(opened(number).Len)
}

//export blockyard_field
func blockyard_field(number C.int64_t, name *C.char, size *C.int64_t) C.int64_t {
	for _, f := range opened(number).Layout {
		if f.Name == C.GoString(name) {
			if size != nil {
				*size = C.int64_t(f.Len)
			}
			return C.int64_t(f.Off)
		}
	}
	return -1
}

//export blockyard_reset
func blockyard_reset(number C.int64_t, seed C.uint64_t, slab unsafe.Pointer) C.int32_t {
	return do(number, func(g *client.Games) error {
		err := g.Reset(map[string]any{"seed": uint64(seed)})
		if err == nil {
			copy(unsafe.Slice((*byte)(slab), g.Len), g.Slab)
		}
		return err
	})
}

//export blockyard_step
func blockyard_step(number C.int64_t, actions *C.uint16_t, slab unsafe.Pointer) C.int32_t {
	return do(number, func(g *client.Games) error { return g.StepAt(unsafe.Pointer(actions), slab) })
}

// do does something with the games of blockyard_open, and keeps the error.
func do(number C.int64_t, something func(*client.Games) error) C.int32_t {
	c := find(number)
	if c == nil {
		setFailure(errNotOpen)
		return -1
	}
	c.err = errNotOpen
	if c.games != nil {
		c.err = something(c.games)
	}
	if c.err != nil {
		return -1
	}
	return 0
}

var errNotOpen = errors.New("no games are open under this number: call blockyard_open")

// setFailure keeps an error that belongs to no connection, as that of number 0.
func setFailure(err error) { connections.Store(int64(0), &connection{err: err}) }

//export blockyard_error
func blockyard_error(number C.int64_t, message *C.char, size C.int64_t) {
	if size <= 0 {
		return
	}
	text := ""
	if c := find(number); c != nil && c.err != nil {
		text = c.err.Error()
	}
	into := unsafe.Slice((*byte)(unsafe.Pointer(message)), size)
	into[copy(into[:size-1], text)] = 0
}
