package host

import (
	"errors"
	"fmt"
	"runtime"
	"unsafe"

	"github.com/ebitengine/purego"

	"blockyard/env/wintetris"
)

// A field is wt_field.
type field struct {
	size          uint32
	width, height int32
	cells         *uint8
}

const (
	blockSize = uint32(unsafe.Sizeof(block{}))
	fieldSize = uint32(unsafe.Sizeof(field{}))
	maxText   = 512 // bytes of an error text
)

// A library is a loaded library. It stays loaded until the process ends. Its methods make C
// calls on the current thread.
type library struct {
	version, open, update, close, lastError uintptr
	pin                                     runtime.Pinner
	f                                       field
	c                                       call
}

// load opens a shared library and finds the functions of the interface in it.
func load(file string) (*library, error) {
	if unsafe.Sizeof(uintptr(0)) != 8 {
		return nil, errors.New("load: a 64-bit machine is needed") // a handle travels in one register
	}
	handle, err := dlopen(file)
	if err != nil {
		return nil, fmt.Errorf("load: %w", err)
	}
	l := &library{}
	for _, s := range []struct {
		name string
		at   *uintptr
	}{
		{"wt_abi_version", &l.version}, {"wt_open", &l.open}, {"wt_update", &l.update}, {"wt_close", &l.close},
		{"wt_last_error", &l.lastError},
	} {
		if *s.at, err = dlsym(handle, s.name); err != nil {
			return nil, fmt.Errorf("load: no function %s in it: %w", s.name, err)
		}
	}
	if got := l.call(l.version); got != ABI {
		return nil, fmt.Errorf("load: its interface has version %d, want %d", got, ABI)
	}
	l.f = field{size: fieldSize, width: wintetris.Width, height: wintetris.Height, cells: &l.c.cells[0]}
	l.pin.Pin(l)
	return l, nil
}

// call calls a function that returns an int32.
func (l *library) call(function uintptr, args ...uintptr) int32 {
	r, _, _ := purego.SyscallN(function, args...)
	return int32(r)
}

// begin opens a solver.
func (l *library) begin(options string) (handle int64, err error) {
	text := append([]byte(options), 0)
	var pin runtime.Pinner
	pin.Pin(&text[0])
	defer pin.Unpin()
	r, _, _ := purego.SyscallN(l.open, uintptr(unsafe.Pointer(&text[0])))
	if r == 0 {
		return 0, fmt.Errorf("wt_open: %s", l.why(0))
	}
	return int64(r), nil
}

// ask calls wt_update with l.c.
func (l *library) ask(handle int64) int32 {
	fresh := uintptr(0)
	if l.c.fresh {
		fresh = 1
	}
	return l.call(l.update, uintptr(handle), uintptr(unsafe.Pointer(&l.f)), uintptr(unsafe.Pointer(&l.c.current)),
		uintptr(unsafe.Pointer(&l.c.next)), fresh)
}

// end closes a solver.
func (l *library) end(handle int64) int32 { return l.call(l.close, uintptr(handle)) }

// why returns the text of a solver's last error; 0 stands for begin.
func (l *library) why(handle int64) string {
	buf := make([]byte, maxText)
	var pin runtime.Pinner
	pin.Pin(&buf[0])
	defer pin.Unpin()
	n := l.call(l.lastError, uintptr(handle), uintptr(unsafe.Pointer(&buf[0])), uintptr(len(buf)))
	if n < 0 {
		return fmt.Sprintf("no reason is given: wt_last_error answered %d", n)
	}
	if n == 0 {
		return "no reason is given"
	}
	return printable(buf[:min(int(n), len(buf)-1)])
}
