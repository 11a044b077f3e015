package web

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"

	"blockyard/datasets/program/web/ask"
)

// policy allows a page to load from its own server only.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// Protect sets the headers that let a page load from its own server only.
func Protect(h http.Header) {
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-cache")
}

// OwnHost reports whether a Host header is an address, localhost or one of our names, against DNS rebinding.
func OwnHost(host string, names ...string) bool {
	name, ip := hostOf(host)
	return ip != nil || slices.ContainsFunc(append([]string{"localhost"}, names...),
		func(own string) bool { return strings.EqualFold(name, own) })
}

// Loopback reports whether a Host header names this machine alone: localhost or an address such as 127.0.0.1.
func Loopback(host string) bool {
	name, ip := hostOf(host)
	return strings.EqualFold(name, "localhost") || ip != nil && ip.IsLoopback()
}

// hostOf returns the name in a Host header, without the port and the brackets, and its address if it is one.
func hostOf(host string) (name string, ip net.IP) {
	if inner, _, err := net.SplitHostPort(host); err == nil {
		host = inner
	}
	name = strings.Trim(host, "[]")
	return name, net.ParseIP(name)
}

// OnLoopback reports whether an address can be reached from this machine alone.
func OnLoopback(a net.Addr) bool {
	host, _, _ := net.SplitHostPort(a.String())
	host, _, _ = strings.Cut(host, "%") // the zone of an IPv6 address
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// Answer responds with v as JSON. A client that is gone is no error.
func Answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // an error means that the client is gone
}

// A Handler answers a request, or returns an error that ask.Failed turns into the answer.
type Handler func(http.ResponseWriter, *http.Request) error

// ServeHTTP implements http.Handler. An error becomes a response with its status, as ask.Failed says.
func (h Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if err := h(w, r); err != nil {
		respond(w)(ask.Failed(err))
	}
}

// Handle adds answers to mux. The body of a request has at most most bytes; a longer one is refused.
func Handle(mux *http.ServeMux, answers ask.Answers, most int64) {
	for what := range answers {
		mux.Handle(what, Handler(func(w http.ResponseWriter, r *http.Request) error {
			body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, most))
			if err != nil {
				return ask.Bad("body: %w", err)
			}
			respond(w)(answers.Answer(r.Context(), what, &ask.Request{Values: r.URL.Query(), Body: body}))
			return nil
		}))
	}
}

func respond(w http.ResponseWriter) func(status int, text []byte) {
	return func(status int, text []byte) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = w.Write(text) // an error means that the client is gone
	}
}
