//go:build !linux

package client

import "errors"

// Share is available on Linux only.
func (g *Games) Share(int) error { return errors.New("share: memory can be shared on Linux only") }

func (g *Games) unshare() error { return nil }
