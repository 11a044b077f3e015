//go:build unix

package library

import (
	"os"
	"syscall"

	"github.com/ebitengine/purego"
)

// The files that contest.Spec.Frames opens in the child.
const (
	childIn  = 3
	childOut = 4
)

const framesOnStdout = false

func childPipes() (in, out *os.File, err error) {
	for _, fd := range []int{childIn, childOut} {
		syscall.CloseOnExec(fd)
	}
	return os.NewFile(childIn, "requests"), os.NewFile(childOut, "answers"), nil
}

func dlopen(file string) (uintptr, error) {
	return purego.Dlopen(file, purego.RTLD_NOW|purego.RTLD_LOCAL)
}

func dlsym(handle uintptr, name string) (uintptr, error) { return purego.Dlsym(handle, name) }
