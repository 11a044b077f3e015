//go:build !linux

package contest

import (
	"os"
	"os/exec"
)

// contain puts a program in its cage. What has left the program's process group may outlive it here.
func contain(cmd *exec.Cmd, s *Spec) (mark string, g Guest, err error) {
	if s.Cage != nil {
		g, _, err = s.Cage.Enclose(cmd, nil, s.Memory)
	}
	return "", g, err
}

func startLocked(cmd *exec.Cmd, exited func(*os.ProcessState)) error {
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() {
		state, _ := cmd.Process.Wait()
		exited(state)
	}()
	return nil
}

func sweep(string) {}

func usage(int) (memory int64, threads int) { return 0, 0 }
