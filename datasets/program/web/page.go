package web

import (
	"encoding/json"
	"io"
	"net/http"

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

// Answer writes v as JSON, with status 200.
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
