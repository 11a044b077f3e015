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

	"blockyard/rpc/wire/client"
)

//export blockyard_open
func blockyard_open(game, options *C.char) C.int64_t {
	number := connect()
	if call(number, func(c *connection) error { return c.open(C.GoString(game), options) }) {
		return number
	}
	why := failure(number)
	failedOpen.Store(&why)
	blockyard_close(number)
	return 0
}

// open opens games with options as JSON, or NULL.
func (c *connection) open(game string, options *C.char) error {
	given := map[string]any{}
	if options != nil {
		var err error
		if given, err = parse(C.GoString(options)); err != nil {
			return fmt.Errorf("open %s: options: %w", game, err)
		}
	}
	caller := client.New(c.local)
	err := caller.Hello("")
	if err == nil {
		c.games, err = caller.Open(game, given)
	}
	return err
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
		if n, err := strconv.ParseInt(string(v), 10, 64); err == nil {
			return n
		}
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

// of asks for something of an environment, that is, a connection of blockyard_open; -1 after an error.
func of(number C.int64_t, ask func(*connection) (int, error)) (answer C.int64_t) {
	if !call(number, func(c *connection) error {
		if c.games == nil {
			return fmt.Errorf("%d is a connection without games of its own: call blockyard_open", number)
		}
		n, err := ask(c)
		answer = C.int64_t(n)
		return err
	}) {
		return -1
	}
	return answer
}

//export blockyard_rows
func blockyard_rows(env C.int64_t) C.int64_t {
	return of(env, func(c *connection) (int, error) { return c.games.Rows, nil })
}

//export blockyard_slab_size
func blockyard_slab_size(env C.int64_t) C.int64_t {
	return of(env, func(c *connection) (int, error) { return c.games.Len, nil })
}

//export blockyard_field
func blockyard_field(env C.int64_t, name *C.char, size *C.int64_t) C.int64_t {
	return of(env, func(c *connection) (int, error) {
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
	return C.int32_t(of(env, func(c *connection) (int, error) {
		slot, err := c.local.Lend(c.games.H, slab)
		if err == nil {
			err = c.games.Call("reset", nil, map[string]any{"seed": uint64(seed), "slot": slot})
		}
		return 0, err
	}))
}

//export blockyard_step
func blockyard_step(env C.int64_t, actions *C.uint16_t, slab unsafe.Pointer) C.int32_t {
	return C.int32_t(of(env, func(c *connection) (int, error) {
		return 0, c.games.StepAt(unsafe.Pointer(actions), slab)
	}))
}

// failure returns the last error of a number.
func failure(number C.int64_t) string {
	if why := failedOpen.Load(); number == 0 && why != nil {
		return *why
	}
	text := fmt.Sprintf("nothing is open under the number %d: call blockyard_open or blockyard_connect", number)
	call(number, func(c *connection) error {
		text = ""
		if c.err != nil {
			text = c.err.Error()
		}
		return nil
	})
	return text
}

//export blockyard_error
func blockyard_error(number C.int64_t, message *C.char, size C.int64_t) {
	if message == nil || size <= 0 {
		return
	}
	text := append([]byte(failure(number)), 0)
	n := min(len(text), int(size))
	into := unsafe.Slice((*byte)(unsafe.Pointer(message)), n)
	copy(into, text)
	into[n-1] = 0
}
