package server

import (
	"context"
	"net"
	"net/netip"
	"sync"
)

// Limits on connections. A stranger is a connection on which no team has logged in.
const (
	maxStrangers = 256
	maxGuests    = 1024 // connections of teams
	maxPerTeam   = 16   // connections of one team
)

// A door is a listener that accepts at once and bounds the number of open connections: one too
// many closes another one. Of strangers that is the oldest one of the address that has most of
// them, if possible one that has not asked anything; of teams the one that has asked nothing for
// the longest time. So no connection that is held open keeps a team out.
type door struct {
	net.Listener

	mu    sync.Mutex
	conns map[*conn]bool
	clock uint64 // counts connections and requests
}

// A conn is an open connection of a door. A nil conn, as in tests, has no limits.
type conn struct {
	net.Conn
	door *door
	from string // the address, as passwords are checked by it

	// These belong to the door's mutex.
	team   string // "" for a stranger
	asking bool   // a stranger has sent a whole request
	used   uint64 // when it last asked; for a stranger when it came
}

func newDoor(l net.Listener) *door { return &door{Listener: l, conns: map[*conn]bool{}} }

// Accept implements net.Listener.
func (d *door) Accept() (net.Conn, error) {
	inner, err := d.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c := &conn{Conn: inner, door: d, from: addressOf(inner.RemoteAddr())}
	d.mu.Lock()
	d.clock++
	c.used, d.conns[c] = d.clock, true
	victim := d.crowding(maxStrangers, (*conn).isStranger, (*conn).address)
	d.mu.Unlock()
	victim.drop()
	return c, nil
}

// addressOf is the address without its port; of IPv6 the network of 64 bits, which one machine may
// have for itself.
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

// Close implements net.Conn.
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

type connKey struct{}

// withConn makes the connection known to the handler of its requests.
func withConn(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, c)
}

func connOf(ctx context.Context) *conn {
	c, _ := ctx.Value(connKey{}).(*conn)
	return c
}

// ask notes that a whole request has come, and returns the address that it came from.
func (c *conn) ask() string {
	if c == nil {
		return ""
	}
	c.door.mu.Lock()
	defer c.door.mu.Unlock()
	c.asking = true
	return c.from
}

// login notes a request of a team.
func (c *conn) login(team string) {
	if c == nil {
		return
	}
	d := c.door
	d.mu.Lock()
	d.clock++
	c.used = d.clock
	var victim *conn
	if c.team != team {
		c.team = team
		victim = d.crowding(maxPerTeam, func(other *conn) bool { return other.team == team }, (*conn).teamName)
		if victim == nil {
			victim = d.crowding(maxGuests, (*conn).isGuest, (*conn).teamName)
		}
	}
	d.mu.Unlock()
	victim.drop()
}

// stranger reports whether no team has logged in.
func (c *conn) stranger() bool {
	if c == nil {
		return false
	}
	c.door.mu.Lock()
	defer c.door.mu.Unlock()
	return c.team == ""
}

// crowding returns the connection to close if more than limit are open of those in question: the
// oldest of the largest group, but not the newest of all. The caller holds d.mu.
func (d *door) crowding(limit int, in func(*conn) bool, group func(*conn) string) *conn {
	count, all, most := map[string]int{}, 0, ""
	for c := range d.conns {
		if in(c) {
			all++
			g := group(c)
			if count[g]++; count[g] > count[most] {
				most = g
			}
		}
	}
	if all <= limit {
		return nil
	}
	var victim *conn
	for c := range d.conns {
		if in(c) && group(c) == most && c.used != d.clock && (victim == nil || c.before(victim)) {
			victim = c
		}
	}
	return victim
}

// before reports whether c is closed before other.
func (c *conn) before(other *conn) bool {
	if c.asking != other.asking {
		return other.asking
	}
	return c.used < other.used
}

func (c *conn) isStranger() bool { return c.team == "" }
func (c *conn) isGuest() bool    { return c.team != "" }
func (c *conn) address() string  { return c.from }
func (c *conn) teamName() string { return c.team }
