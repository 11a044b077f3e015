//go:build !linux

package server_test

import (
	"testing"

	"blockyard/rpc/wire/client"
)

// sharedSlab ends the test: memory is shared on Linux only.
func sharedSlab(t *testing.T, _ *client.Games) []byte {
	t.Skip("no shared memory on this system")
	return nil
}

// overSlots returns nil, for the same reason.
func overSlots(*testing.T, *client.Games, bool) *way { return nil }
