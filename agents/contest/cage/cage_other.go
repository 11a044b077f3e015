//go:build !linux

package cage

import (
	"errors"
	"os/exec"
)

func Possible() bool { return false }

func Missing() []string { return []string{"every wall: programs are contained on Linux only"} }

func (*Cage) wrap(*exec.Cmd, []string, string) (alone bool, err error) {
	return false, errors.New("programs are contained on Linux only")
}
