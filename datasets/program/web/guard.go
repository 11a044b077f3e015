package web

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strings"

	"blockyard/datasets/program/web/ask"
)

// Names are names by which clients call a server and which it cannot know, such as that of a proxy.
type Names []string

// Validate is called by the parser of flags.
func (n Names) Validate() error {
	for _, name := range n {
		if name == "" || strings.ContainsAny(name, ":/ ") {
			return fmt.Errorf("host %q: want a name without a port, such as games.example.org", name)
		}
	}
	return nil
}

// of returns n and the names that everyone may use for a server at an address: localhost, and the machine's own if
// other machines reach the address.
func (n Names) of(a net.Addr) Names {
	all := append(Names{"localhost"}, n...)
	if host, err := os.Hostname(); err == nil && !OnLoopback(a) {
		short, _, _ := strings.Cut(host, ".")
		all = append(all, host, short, short+".local") // the last by multicast DNS
	}
	return all
}

// refuse says why a request is refused, nil if it is not. A web page of another site can make a browser send requests
// to every address that the browser reaches. They have the page's Origin or, after DNS rebinding, the page's own name
// as Host. An IP address as Host cannot come from DNS.
func (n Names) refuse(r *http.Request) error {
	host := r.Host
	if inner, _, err := net.SplitHostPort(host); err == nil {
		host = inner
	}
	host = strings.TrimSuffix(strings.Trim(host, "[]"), ".")
	_, err := netip.ParseAddr(host)
	if err != nil && !slices.ContainsFunc(n, func(own string) bool { return strings.EqualFold(host, own) }) {
		return fmt.Errorf("this server is not called %.80q: use its IP address or localhost, or start it with "+
			"--allowed-host NAME", r.Host)
	}
	origin := r.Header.Get("Origin")
	if u, err := url.Parse(origin); origin != "" && (err != nil || !strings.EqualFold(u.Host, r.Host)) {
		return fmt.Errorf("web pages of %.80q may not use this server", origin)
	}
	return nil
}

// guard answers what is refused with 403.
func guard(next http.Handler) http.Handler {
	return Handler(func(w http.ResponseWriter, r *http.Request) error {
		if err := connOf(r).door.names.refuse(r); err != nil {
			Protect(w.Header())
			w.Header().Set("Connection", "close")
			return ask.Status(http.StatusForbidden, err)
		}
		next.ServeHTTP(w, r)
		return nil
	})
}

// OnLoopback reports whether an address can be reached from this machine alone.
func OnLoopback(a net.Addr) bool {
	at, err := netip.ParseAddrPort(a.String())
	return err == nil && at.Addr().Unmap().IsLoopback()
}
