package library

import (
	"os"

	"golang.org/x/sys/windows"
)

const framesOnStdout = true

// childPipes uses standard input and output for the frames. What a library prints goes to standard error instead.
func childPipes() (in, out *os.File, err error) {
	in, out = os.Stdin, os.Stdout
	if err := windows.SetStdHandle(windows.STD_OUTPUT_HANDLE, windows.Handle(os.Stderr.Fd())); err != nil {
		return nil, nil, err
	}
	os.Stdin, os.Stdout = nil, os.Stderr
	return in, out, nil
}

func dlopen(file string) (uintptr, error) {
	h, err := windows.LoadLibrary(file)
	return uintptr(h), err
}

func dlsym(handle uintptr, name string) (uintptr, error) {
	return windows.GetProcAddress(windows.Handle(handle), name)
}
