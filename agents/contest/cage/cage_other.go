//go:build !linux

package cage

import (
	"errors"
	"os/exec"
)

// Possible reports whether there are any walls here.
func Possible() bool { return false }

// Missing lists the walls that are not to be had here.
func Missing() []string { return []string{"every wall: programs are contained on Linux only"} }

func (*Cage) wrap(*exec.Cmd, []string, string) (alone bool, err error) {
	return false, errors.New("programs are contained on Linux only")
}
