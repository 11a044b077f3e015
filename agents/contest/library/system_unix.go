//go:build unix

package library

import (
	"os"
	"syscall"

	"github.com/ebitengine/purego"
)

// framesOnStdout says whether the frames take the place of standard output. Here they are files 3 and 4.
const framesOnStdout = false

func childPipes() (in, out *os.File, err error) {
	syscall.CloseOnExec(3)
	syscall.CloseOnExec(4)
	return os.NewFile(3, "requests"), os.NewFile(4, "answers"), nil
}

func dlopen(file string) (uintptr, error) {
	return purego.Dlopen(file, purego.RTLD_NOW|purego.RTLD_LOCAL)
}

func dlsym(handle uintptr, name string) (uintptr, error) { return purego.Dlsym(handle, name) }
