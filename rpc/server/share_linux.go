package server

import (
	"errors"
	"fmt"
	"net"
	"os"
	"slices"

	"golang.org/x/sys/unix"

	"blockyard/rpc/wire"
)

const canShare = true

// newShared allocates size zeroed bytes without a name. It returns their mapping and the file for
// others to map. The size is sealed, because access to a mapping whose file has shrunk kills the process.
func newShared(size int64) (memory []byte, file *os.File, err error) {
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

func freeShared(memory []byte) error { return unix.Munmap(memory) }

// pass responds to a request and sends a file descriptor with the first byte of the response.
func (s *session) pass(id uint32, file *os.File, result any) error {
	parts, err := wire.Result(id, result)
	if err != nil {
		return err
	}
	b := slices.Concat(parts...)
	s.writeMu.Lock()
	defer s.writeMu.Unlock()
	s.extend()
	n, _, err := s.conn.(*net.UnixConn).WriteMsgUnix(b, unix.UnixRights(int(file.Fd())), nil)
	if err == nil && n < len(b) {
		var more int
		more, err = s.conn.Write(b[n:])
		n += more
	}
	s.srv.sent.Add(uint64(n))
	if err != nil {
		s.end()
	}
	return nil
}
