package library

import "golang.org/x/sys/windows"

func dlopen(file string) (uintptr, error) {
	h, err := windows.LoadLibrary(file)
	return uintptr(h), err
}

func dlsym(handle uintptr, name string) (uintptr, error) {
	return windows.GetProcAddress(windows.Handle(handle), name)
}
