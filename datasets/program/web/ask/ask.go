// Package ask answers what the pages of the project ask, whoever carries the question and the answer: a server over
// HTTP (package web), or a page that has the program in it.
package ask

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strconv"
)

// Statuses of errors, which are those of HTTP.
const (
	BadRequest    = 400 // no page of ours asks this
	NotFound      = 404
	Conflict      = 409 // the answer would have been another one a moment ago
	Unprocessable = 422 // every other error
)

// A Request is what a page asks: the values of its query, checked by methods that keep the first error for Err.
type Request struct {
	url.Values
	Body []byte // of a POST
	err  error
}

// Number reads a number from lo to hi, by default without, which is below lo if there is no default. See Err.
func (r *Request) Number(name string, without, lo, hi int) int {
	text := r.Get(name)
	if text == "" && without >= lo {
		return without
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < lo || n > hi {
		r.err = errors.Join(r.err, Bad("%s: %.40q, want a number from %d to %d", name, text, lo, hi))
	}
	return n
}

// Err is the error of all numbers that were read.
func (r *Request) Err() error { return r.err }

// Answers are functions that answer a request in JSON, by method and path, such as "GET /api/games".
type Answers map[string]func(context.Context, *Request) ([]byte, error)

// Answer answers a request. If that fails, the text is {"error": TEXT}.
func (a Answers) Answer(ctx context.Context, what string, r *Request) (status int, text []byte) {
	f := a[what]
	if f == nil {
		return Failed(Status(NotFound, fmt.Errorf("nothing answers %.80q", what)))
	}
	text, err := f(ctx, r)
	if err != nil {
		return Failed(err)
	}
	return 200, text
}

// JSON returns v as the body of a response.
func JSON(v any) ([]byte, error) { return json.Marshal(v) }

// Failed returns the status and the text of an error.
func Failed(err error) (status int, text []byte) {
	e := statusError{status: Unprocessable}
	errors.As(err, &e)
	text, _ = json.Marshal(map[string]string{"error": err.Error()}) // a string always has a form
	return e.status, text
}

// Status gives an error a status; without one it is Unprocessable.
func Status(status int, err error) error { return statusError{status, err} }

// Bad is the error for a request that no page of ours sends.
func Bad(format string, args ...any) error { return Status(BadRequest, fmt.Errorf(format, args...)) }

// A statusError is an error with the status of the HTTP response.
type statusError struct {
	status int
	error
}
