package main

// #include <stdint.h>
import "C"

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unsafe"

	"blockyard/datasets/program/capi"
	"blockyard/rpc/wire/client"
)

//export blockyard_open
func blockyard_open(game, options *C.char) C.int64_t {
	return C.int64_t(connections.Open(func() (c connection, err error) {
		given := map[string]any{}
		if options != nil {
			if given, err = parse(C.GoString(options)); err != nil {
				return c, fmt.Errorf("open: options: %w", err)
			}
		}
		c.Local = started().Local()
		caller := client.New(c.Local)
		if err = caller.Hello(""); err == nil {
			c.games, err = caller.Open(C.GoString(game), given)
		}
		if err != nil {
			_ = c.Close() // which never fails
		}
		return c, err
	}))
}

// parse reads options as the server expects them: with whole numbers as integers, also where they name opponents.
func parse(text string) (options map[string]any, err error) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&options); err != nil {
		return nil, fmt.Errorf("%w; want a JSON object", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errors.New("something follows the JSON object: want nothing else")
	}
	native(options)
	named, ok := options["opponents"].(map[string]any)
	if !ok {
		return options, nil
	}
	opponents := map[int64]any{}
	for key, opponent := range named {
		seat, err := strconv.ParseInt(key, 10, 64)
		if err != nil || strconv.FormatInt(seat, 10) != key {
			return nil, fmt.Errorf(`opponents names seat %q, want a number such as "1"`, key)
		}
		opponents[seat] = opponent
	}
	options["opponents"] = opponents
	return options, nil
}

// native returns a value of JSON with Go's numbers: integers where they are whole.
func native(v any) any {
	switch v := v.(type) {
	case json.Number:
		if n, err := strconv.ParseUint(string(v), 10, 64); err == nil {
			return n
		}
		f, _ := v.Float64() // infinite if it is too large
		if f == math.Trunc(f) && math.Abs(f) < 1<<53 {
			return int64(f)
		}
		return f
	case []any:
		for i := range v {
			v[i] = native(v[i])
		}
	case map[string]any:
		for key := range v {
			v[key] = native(v[key])
		}
	}
	return v
}

//export blockyard_rows
func blockyard_rows(env C.int64_t) C.int64_t {
	return use(env, true, func(c *connection) (int, error) { return c.games.Rows, nil })
}

//export blockyard_slab_size
func blockyard_slab_size(env C.int64_t) C.int64_t {
	return use(env, true, func(c *connection) (int, error) { return c.games.Len, nil })
}

//export blockyard_field
func blockyard_field(env C.int64_t, name *C.char, size *C.int64_t) C.int64_t {
	return use(env, true, func(c *connection) (int, error) {
		var names []string
		for _, f := range c.games.Layout {
			if f.Name == C.GoString(name) {
				if size != nil {
					*size = C.int64_t(f.Len)
				}
				return f.Off, nil
			}
			names = append(names, f.Name)
		}
		return 0, fmt.Errorf("the slab has no array %q, but %s", C.GoString(name), strings.Join(names, ", "))
	})
}

//export blockyard_reset
func blockyard_reset(env C.int64_t, seed C.uint64_t, slab unsafe.Pointer) C.int32_t {
	return C.int32_t(use(env, true, func(c *connection) (int, error) {
		slot, err := c.Lend(c.games.H, slab)
		if err == nil {
			err = c.games.Call("reset", nil, map[string]any{"seed": uint64(seed), "slot": slot})
		}
		return 0, err
	}))
}

//export blockyard_step
func blockyard_step(env C.int64_t, actions *C.uint16_t, slab unsafe.Pointer) C.int32_t {
	return C.int32_t(use(env, true, func(c *connection) (int, error) {
		return 0, c.games.StepAt(unsafe.Pointer(actions), slab)
	}))
}

//export blockyard_error
func blockyard_error(number C.int64_t, message *C.char, size C.int64_t) {
	text, err := connections.LastError(int64(number))
	if err != nil || number == 0 && text == "" {
		text = fmt.Sprintf("%v, %d: call blockyard_open or blockyard_connect", capi.ErrNotOpen, number)
	}
	_ = capi.Write(text, unsafe.Pointer(message), int(size)) // there may be no room
}
