package openenv

import (
	"errors"
	"net/http"

	"blockyard/rpc/wire"
)

// A failure is an error with what the standard says of it, over HTTP and over a WebSocket.
type failure struct {
	status int    // of HTTP
	code   string // WSErrorCode
	err    error
}

func (f *failure) Error() string { return f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

// invalid says that a request is not as the schema has it.
func invalid(err error) error {
	return &failure{http.StatusUnprocessableEntity, "VALIDATION_ERROR", err}
}

// badRequest says that a request cannot be done now.
func badRequest(err error) error { return &failure{http.StatusBadRequest, "EXECUTION_ERROR", err} }

// gone says that there is no such session.
func gone(err error) error { return &failure{http.StatusNotFound, "SESSION_ERROR", err} }

var errDraining = &failure{http.StatusServiceUnavailable, "CAPACITY_REACHED",
	errors.New("the server is about to end and takes no new sessions: try another one, or later")}

// failureOf returns what the client is told of an error. Errors of ours are logged.
func (s *Server) failureOf(err error) *failure {
	var f *failure
	var refused *wire.Error
	switch {
	case errors.As(err, &f):
		return f
	case errors.Is(err, errClosed):
		return &failure{http.StatusNotFound, "SESSION_ERROR", err}
	case errors.As(err, &refused) && (refused.Code == wire.AuthRequired || refused.Code == wire.AuthFailed):
		return &failure{http.StatusUnauthorized, "SESSION_ERROR",
			errors.New("this server wants its token: send the header Authorization: Bearer TOKEN")}
	case errors.As(err, &refused):
		return &failure{http.StatusServiceUnavailable, "CAPACITY_REACHED", errors.New(refused.Msg)}
	}
	s.c.Log.Error("openenv", "err", err)
	return &failure{http.StatusInternalServerError, "EXECUTION_ERROR", err}
}
