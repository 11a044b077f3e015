//go:build !linux

package server

import (
	"errors"
	"os"
)

const canShare = false

func newShared(int64) ([]byte, *os.File, error) { return nil, nil, errors.New(errNoShares) }

func freeShared([]byte) error { return errors.New(errNoShares) }

func (s *session) pass(uint32, *os.File, any) error { return errors.New(errNoShares) }
