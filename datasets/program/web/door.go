package web

import (
	"cmp"
	"net"
	"net/http"
	"net/netip"
	"sync"
)

// A door accepts at once and bounds the open connections by closing others: a stranger's, the oldest of the address
// that has most, rather one without a whole request; a member's, the least recently used of the member that has most.
type door struct {
	net.Listener
	limits Limits
	names  Names // of the server, all of them

	mu    sync.Mutex
	conns map[*conn]bool
	clock uint64 // counts connections and requests
}

// A conn is an open connection of a door. A nil conn, as in tests of a handler, has no limits.
type conn struct {
	net.Conn
	door *door
	from string // the address; see addressOf

	// These belong to the door's mutex.
	member string // "" for a stranger
	asked  bool   // it has sent a whole request
	used   uint64 // the clock at the member's last request; for a stranger, when it was accepted
}

func (d *door) Accept() (net.Conn, error) {
	inner, err := d.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c := &conn{Conn: inner, door: d, from: addressOf(inner.RemoteAddr())}
	d.mu.Lock()
	d.clock++
	c.used, d.conns[c] = d.clock, true
	victim := d.crowding(d.limits.Strangers, (*conn).isStranger)
	d.mu.Unlock()
	victim.drop()
	return c, nil
}

// addressOf is the address without its port, and for IPv6 the network of 64 bits that one machine may have.
func addressOf(a net.Addr) string {
	at, err := netip.ParseAddrPort(a.String())
	if err != nil {
		return a.Network()
	}
	ip := at.Addr().Unmap().WithZone("")
	if ip.Is6() {
		network, _ := ip.Prefix(64)
		return network.String()
	}
	return ip.String()
}

func (c *conn) Close() error {
	c.door.mu.Lock()
	delete(c.door.conns, c)
	c.door.mu.Unlock()
	return c.Conn.Close()
}

func (c *conn) drop() {
	if c != nil {
		_ = c.Close()
	}
}

// crowding returns what to close if more than limit are open: the oldest of the largest group. The caller holds d.mu.
func (d *door) crowding(limit int, in func(*conn) bool) *conn {
	count, all, most := map[string]int{}, 0, ""
	for c := range d.conns {
		if in(c) {
			all++
			if count[c.group()]++; count[c.group()] > count[most] {
				most = c.group()
			}
		}
	}
	if all <= limit {
		return nil
	}
	var victim *conn
	for c := range d.conns {
		if in(c) && c.group() == most && c.used != d.clock && (victim == nil || c.before(victim)) {
			victim = c
		}
	}
	return victim
}

func (c *conn) before(other *conn) bool {
	if c.asked != other.asked {
		return other.asked
	}
	return c.used < other.used
}

func (c *conn) isStranger() bool { return c.member == "" }
func (c *conn) isMember() bool   { return c.member != "" }

// group is what a connection is counted with: those of its member, or of a stranger's address.
func (c *conn) group() string { return cmp.Or(c.member, c.from) }

// A connKey is the key of a request's connection in its context.
type connKey struct{}

func connOf(r *http.Request) *conn {
	c, _ := r.Context().Value(connKey{}).(*conn)
	return c
}

// Asked notes that a whole request has come, before a handler that waits, and returns its address, "" in tests.
func Asked(r *http.Request) string {
	c := connOf(r)
	if c == nil {
		return ""
	}
	c.door.mu.Lock()
	defer c.door.mu.Unlock()
	c.asked = true
	return c.from
}

// Known notes that a request, and with it its connection, is one of a member, such as a team or the owner of a token.
func Known(r *http.Request, member string) {
	c := connOf(r)
	if c == nil {
		return
	}
	d := c.door
	d.mu.Lock()
	d.clock++
	c.used = d.clock
	var victim *conn
	if c.member != member {
		c.member = member
		same := func(other *conn) bool { return other.member == member }
		if victim = d.crowding(d.limits.PerMember, same); victim == nil {
			victim = d.crowding(d.limits.Members, (*conn).isMember)
		}
	}
	d.mu.Unlock()
	victim.drop()
}

// Stranger reports whether no request of this connection has been Known as a member's so far.
func Stranger(r *http.Request) bool {
	c := connOf(r)
	if c == nil {
		return false
	}
	c.door.mu.Lock()
	defer c.door.mu.Unlock()
	return c.isStranger()
}
