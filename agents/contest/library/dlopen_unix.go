//go:build unix

package library

import "github.com/ebitengine/purego"

func dlopen(file string) (uintptr, error) {
	return purego.Dlopen(file, purego.RTLD_NOW|purego.RTLD_LOCAL)
}

func dlsym(handle uintptr, name string) (uintptr, error) { return purego.Dlsym(handle, name) }
