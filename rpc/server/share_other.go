//go:build !linux

package server

import (
	"errors"
	"math"
	"os"
)

const canShare = false

// kernelLimits returns how many mappings and file descriptors the kernel allows this process: unknown here.
func kernelLimits() (mappings, files int) { return math.MaxInt, math.MaxInt }

func newShared(int64) ([]byte, *os.File, error) { return nil, nil, errors.New(errNoShares) }

func freeShared([]byte) error { return errors.New(errNoShares) }

func (s *session) pass(uint32, *os.File, any) error { return errors.New(errNoShares) }
