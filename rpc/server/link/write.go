package link

import (
	"bytes"
	"net"
	"os"
	"slices"
	"time"

	"blockyard/rpc/session/limits"
	"blockyard/rpc/session/memory"
	"blockyard/rpc/wire"
)

// frame returns a frame to read into: the most recently used one, which is likely to be in cache.
func (l *Link) frame() *wire.Frame {
	l.freeMu.Lock()
	defer l.freeMu.Unlock()
	n := len(l.free)
	if n == 0 {
		return &wire.Frame{}
	}
	f := l.free[n-1]
	l.free = l.free[:n-1]
	return f
}

// recycle keeps a frame for the next request, and its memory if it is that of a step: the session may keep as much as
// its handles need for one step each, which is part of their memory. All other memory is given back.
func (l *Link) recycle(f *wire.Frame) {
	l.freeMu.Lock()
	defer l.freeMu.Unlock()
	more := f.Cap() - f.Kept
	switch {
	case f.Kept > 0 && l.kept > l.keep: // of a handle that was closed in the meantime
		l.release(f)
		l.countKept()
	case more <= 0 || f.Kept == 0 && f.Held == 0:
	case l.c.Size(f.Method) == Steps && l.kept+more <= l.keep:
		l.kept += more
		f.Kept += more
		l.claim.Free(int64(f.Held))
		f.Held = 0
	default:
		l.release(f)
	}
	l.free = append(l.free, f)
}

// release drops a frame's memory. The caller holds freeMu, or is the last to use the session.
func (l *Link) release(f *wire.Frame) {
	l.kept -= f.Kept
	l.claim.Free(int64(f.Held))
	f.Drop()
}

// countKept accounts for memory kept beyond keep, of a closed handle. The caller holds freeMu or is the last user.
func (l *Link) countKept() {
	over := int64(max(0, l.kept-l.keep))
	l.c.Ledger.Linger(l.token, over-l.over)
	l.over = over
}

// SizeSteps sets the length of the longest step, to four times what one of so many rows needs, so that a request of a
// wrong length gets an error instead of losing the connection, and how much memory of requests may be kept.
func (l *Link) SizeSteps(rows, keep int) {
	l.stepLimit.Store(int64(wire.StepHeadLen + 8*rows))
	l.freeMu.Lock()
	defer l.freeMu.Unlock()
	l.keep = keep
	for _, f := range l.free {
		if l.kept > l.keep && f.Kept > 0 {
			l.release(f)
		}
	}
	l.countKept()
}

// hold counts n more bytes of a request, which will need owed bytes beyond them. They replace a smaller buffer.
func (l *Link) hold(n, owed int) error {
	most := int64(max(l.c.Limits.MaxMessage, limits.Control, int(l.stepLimit.Load())))
	if l.claim.Grow(int64(n), int64(owed), most) {
		return nil
	}
	l.readUntil(time.Time{}) // time spent waiting for others does not count
	if err := l.claim.Await(l.Context, int64(n), int64(owed), most); err != nil {
		return err
	}
	l.readUntil(time.Now().Add(l.c.Limits.FrameTimeout))
	return nil
}

// readUntil sets the read deadline of the connection. A session that is cut reads no more.
func (l *Link) readUntil(deadline time.Time) {
	_ = l.Conn.SetReadDeadline(deadline)
	if l.claim.Cut() {
		_ = l.Conn.SetReadDeadline(time.Unix(1, 0))
	}
}

// Fail responds to a request with an error.
func (l *Link) Fail(id uint32, e *wire.Error) {
	l.c.Failed(e.Code)
	b, err := wire.Failure(id, e)
	if err != nil {
		l.c.Log.Error("encode", "err", err)
		l.End()
		return
	}
	l.Put(b)
}

// Reply responds to a request with a result, unless that exceeds MaxReply.
func (l *Link) Reply(id uint32, result any) error {
	parts, err := wire.Result(id, result)
	if err != nil {
		return err
	}
	size := 0
	for _, p := range parts {
		size += len(p)
	}
	if err := l.c.Ledger.Fits(size - limits.ReplyRoom); err != nil {
		return err
	}
	l.Send(parts...)
	return nil
}

// Send sends parts as one message. It ends the session of a client that does not read within WriteTimeout.
func (l *Link) Send(parts ...[]byte) {
	if len(parts) == 1 {
		l.Put(parts[0])
		return
	}
	l.writeMu.Lock()
	defer l.writeMu.Unlock()
	l.extend()
	l.Memory.Began()
	for rest := net.Buffers(parts); len(rest) > 0; l.Memory.Moved() {
		var some net.Buffers
		some, rest = firstBytes(rest, MostAtOnce)
		n, err := some.WriteTo(l.Conn)
		l.wrote(int(n), err)
		if err != nil {
			return
		}
	}
}

func (l *Link) wrote(n int, err error) {
	l.c.Ledger.Totals.Sent.Add(uint64(n))
	if err != nil {
		l.End()
	}
}

// MostAtOnce is how many bytes of a response are written at once, so that a client that takes nothing is noticed.
const MostAtOnce = 128 << 10

// firstBytes splits parts after so many bytes.
func firstBytes(parts net.Buffers, most int) (first, rest net.Buffers) {
	for k, p := range parts {
		if len(p) > most {
			first = append(first, parts[:k]...)
			return append(first, p[:most]), append(net.Buffers{p[most:]}, parts[k+1:]...)
		}
		most -= len(p)
	}
	return parts, nil
}

// Reserve counts n bytes of bulk data of the response being built, until it is sent. It waits for room.
func (l *Link) Reserve(n int) error {
	if err := l.c.Ledger.Fits(n); err != nil {
		return err
	}
	return l.Memory.Reserve(l.Context, n)
}

// Put is Send for one part, without allocating.
func (l *Link) Put(b []byte) {
	l.writeMu.Lock()
	defer l.writeMu.Unlock()
	l.extend()
	l.wrote(l.Conn.Write(b))
}

// Done is the response that says that a request was done, in memory that the next one uses again.
func (l *Link) Done(id uint32) []byte { return wire.AppendDone(l.brief[:0], id) }

// IsDone reports whether b is the response that Done has returned last.
func (l *Link) IsDone(b []byte) bool { return bytes.Equal(b, l.brief[:]) }

// Pass sends a response with a file descriptor.
func (l *Link) Pass(parts [][]byte, file *os.File) {
	l.writeMu.Lock()
	defer l.writeMu.Unlock()
	l.extend()
	l.wrote(memory.Send(l.Conn, slices.Concat(parts...), file))
}

// extend moves the write deadline, but not for every step, because setting a timer takes time.
func (l *Link) extend() {
	limit := l.c.Limits.WriteTimeout
	if now := time.Now(); l.deadline.Sub(now) < limit {
		l.deadline = now.Add(limit + limit/4)
		_ = l.Conn.SetWriteDeadline(l.deadline)
	}
}
