package capi_test

import (
	"errors"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"blockyard/datasets/program/capi"
	"blockyard/env/envtest"
)

// at is an address that C might pass.
func at(address uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&address)) }

// TestFaults: panics, and addresses at which there is nothing, are errors of the call; the next one works.
func TestFaults(t *testing.T) {
	table := capi.Table[int]{What: "counter", Most: 2}
	n := table.Open(func() (int, error) { return 5, nil })
	for _, address := range []uintptr{0, 8, ^uintptr(0) >> 1} {
		err := table.Use(n, func(*int) error {
			*(*byte)(at(address)) = 1
			return nil
		})
		require.ErrorContains(t, err, "the counter failed: runtime error: invalid memory address")
		require.Error(t, capi.Write("text", at(address), 5))
	}
	require.NoError(t, table.Use(n, func(count *int) error {
		*count++
		return nil
	}))
	text := envtest.Must(table.LastError(n))
	require.Contains(t, text, "invalid memory address", "it is kept until the next error")
	require.ErrorContains(t, table.Close(n, func(count int) error {
		require.Equal(t, 6, count)
		panic("it jams")
	}), "closing the counter failed: it jams")
	require.ErrorIs(t, table.Close(n, nil), capi.ErrNotOpen)

	require.Zero(t, table.Open(func() (int, error) { panic("no more") }))
	require.Equal(t, "making the counter failed: no more", envtest.Must(table.LastError(0)))
	for _, number := range []int64{0, n, n + 1, -1} {
		require.ErrorIs(t, table.Use(number, nil), capi.ErrNotOpen)
	}
}

// TestUseAllocatesNothing: a call costs no memory, so that a step does not.
func TestUseAllocatesNothing(t *testing.T) {
	table := capi.Table[int]{What: "counter", Most: 1}
	n := table.Open(func() (int, error) { return 0, nil })
	use := func() {
		if table.Use(n, func(count *int) error { *count++; return nil }) != nil {
			t.Fail()
		}
	}
	require.Zero(t, testing.AllocsPerRun(100, use))
}

// TestWrite: a text is cut to the room that there is, and ends with 0.
func TestWrite(t *testing.T) {
	for size, want := range map[int]string{1: "\x00xxx", 3: "te\x00x", 4: "tex\x00", -1: "xxxx", 0: "xxxx"} {
		room := []byte("xxxx")
		err := capi.Write("text", unsafe.Pointer(&room[0]), size)
		require.Equal(t, size <= 0, err != nil)
		require.Equal(t, want, string(room))
	}
	require.ErrorContains(t, capi.Write("text", nil, 5), "no room")
	require.ErrorContains(t, capi.Guard("it", func() error { return errors.New("fails") }), "fails")
}
