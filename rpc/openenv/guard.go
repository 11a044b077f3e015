package openenv

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"blockyard/datasets/program/web"
)

// guard refuses requests that a web page of another site has made a browser send: those with its Origin, and, after
// DNS rebinding, those with its Host. An IP address as Host cannot come from DNS.
func (s *Server) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !web.OwnHost(r.Host, s.c.Hosts...) {
			s.refuse(w, &failure{http.StatusForbidden, "", fmt.Errorf("this server is not called %.80q: "+
				"use its IP address or localhost, or start it with --openenv-host NAME", r.Host)})
			return
		}
		origin := r.Header.Get("Origin")
		if u, err := url.Parse(origin); origin != "" && (err != nil || !strings.EqualFold(u.Host, r.Host)) {
			s.refuse(w, &failure{http.StatusForbidden, "", fmt.Errorf("web pages of %.80q may not use this server", origin)})
			return
		}
		next.ServeHTTP(w, r)
	})
}

// known answers requests without a token with 401, if the server has any.
func (s *Server) known(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		token, err := s.c.Guests.Recognize(secretOf(r.Header))
		if err != nil {
			w.Header().Set("WWW-Authenticate", "Bearer")
			s.refuse(w, err)
			return
		}
		if token != "" {
			web.Known(r, "token "+token)
		}
		next(w, r)
	}
}

// secretOf returns the token of a request, "" if it has none.
func secretOf(h http.Header) string {
	scheme, secret, _ := strings.Cut(h.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(secret)
}
