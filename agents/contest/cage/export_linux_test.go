package cage

import (
	"runtime"
	"slices"

	"github.com/elastic/go-seccomp-bpf/arch"
)

// SystemCalls returns the numbers that this processor has for system calls, and the names of those that a program may
// make, some of them with certain arguments only.
func SystemCalls() (numbers map[string]int, may []string) {
	here, err := arch.GetInfo(runtime.GOARCH)
	if err != nil {
		panic(err)
	}
	for _, group := range policy(here, true).Syscalls {
		may = append(may, group.Names...)
		for _, name := range group.NamesWithCondtions {
			may = append(may, name.Name)
		}
	}
	slices.Sort(may)
	return here.SyscallNames, slices.Compact(may)
}
