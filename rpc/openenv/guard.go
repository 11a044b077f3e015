package openenv

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// guard refuses requests that a web page of another site has made a browser send: those with its Origin, and, after
// DNS rebinding, those with its Host. An IP address as Host cannot come from DNS.
func (s *Server) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !s.ours(r.Host) {
			s.refuse(w, &failure{http.StatusForbidden, "", fmt.Errorf("this server is not called %.80q: "+
				"use its IP address or localhost, or start it with --openenv-host NAME", r.Host)})
			return
		}
		if origin := r.Header.Get("Origin"); origin != "" {
			if u, err := url.Parse(origin); err != nil || !strings.EqualFold(u.Host, r.Host) {
				s.refuse(w, &failure{http.StatusForbidden, "",
					fmt.Errorf("web pages of %.80q may not use this server", origin)})
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

// ours reports whether a Host header names this server.
func (s *Server) ours(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	if _, err := netip.ParseAddr(host); err == nil {
		return true
	}
	return slices.ContainsFunc(append([]string{"localhost"}, s.c.Hosts...),
		func(known string) bool { return strings.EqualFold(host, known) })
}

// known answers requests without a token with 401, if the server has any.
func (s *Server) known(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if _, err := s.c.Guests.Recognize(secretOf(r)); err != nil {
			w.Header().Set("WWW-Authenticate", "Bearer")
			s.refuse(w, err)
			return
		}
		next(w, r)
	}
}

// secretOf returns the token of a request, "" if it has none.
func secretOf(r *http.Request) string {
	scheme, secret, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(secret)
}
