// Package memory shares memory with the clients of a server on the same machine, and packs boards into fewer bits per
// cell. It knows sizes and bytes, but no game.
package memory

import (
	"errors"
	"fmt"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// CanShare reports whether this operating system can share memory.
const CanShare = true

// New allocates size zeroed bytes without a name. It returns their mapping and the file for
// others to map. The size is sealed, because access to a mapping whose file has shrunk kills the process.
func New(size int64) (memory []byte, file *os.File, err error) {
	fd, err := unix.MemfdCreate("blockyard", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil, nil, fmt.Errorf("memfd_create: %w", err)
	}
	file = os.NewFile(uintptr(fd), "memfd:blockyard")
	if err = file.Truncate(size); err == nil {
		_, err = unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, unix.F_SEAL_SHRINK|unix.F_SEAL_GROW|unix.F_SEAL_SEAL)
	}
	if err == nil {
		memory, err = unix.Mmap(fd, 0, int(size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	}
	if err != nil {
		return nil, nil, errors.Join(err, file.Close())
	}
	return memory, file, nil
}

// Free frees the mapping of New.
func Free(memory []byte) error { return unix.Munmap(memory) }

// Send writes b to a connection and a file descriptor with its first byte. It returns how many bytes it wrote.
func Send(conn net.Conn, b []byte, file *os.File) (n int, err error) {
	n, _, err = conn.(*net.UnixConn).WriteMsgUnix(b, unix.UnixRights(int(file.Fd())), nil)
	if err == nil && n < len(b) {
		var more int
		more, err = conn.Write(b[n:])
		n += more
	}
	return n, err
}
