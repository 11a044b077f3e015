package wire

import "fmt"

// Error codes. The hundreds digit is the category: 1 protocol, 2 authentication, 3 request,
// 4 environment, 5 capacity, 9 bug in the server.
const (
	BadFrame      = 100
	TooLarge      = 101
	Version       = 102
	AuthRequired  = 200
	AuthFailed    = 201
	UnknownMethod = 300
	BadParams     = 301
	UnknownGame   = 302
	BadHandle     = 303
	Illegal       = 400
	NeedsReset    = 401
	BadState      = 402
	Opponent      = 403
	Busy          = 500
	Limit         = 501
	Draining      = 502
	Internal      = 900
)

var names = map[int]string{
	BadFrame: "bad_frame", TooLarge: "too_large", Version: "version",
	AuthRequired: "auth_required", AuthFailed: "auth_failed",
	UnknownMethod: "unknown_method", BadParams: "bad_params", UnknownGame: "unknown_game", BadHandle: "bad_handle",
	Illegal: "illegal_action", NeedsReset: "needs_reset", BadState: "bad_state", Opponent: "opponent_failed",
	Busy: "busy", Limit: "limit", Draining: "draining", Internal: "internal",
}

// An Error is the error of a response to a failed request.
type Error struct {
	Code    int            `msgpack:"code"`
	Name    string         `msgpack:"name"`
	Msg     string         `msgpack:"msg"`
	Data    map[string]any `msgpack:"data"`
	RetryMS int            `msgpack:"retry_after_ms,omitempty"`
}

func (e *Error) Error() string { return fmt.Sprintf("%s: %s", e.Name, e.Msg) }

// Fatal reports whether the server closes the connection after this error.
func (e *Error) Fatal() bool { return e.Code/100 == 1 || e.Code == AuthFailed }

// Errorf returns an Error with a code and a formatted message.
func Errorf(code int, format string, args ...any) *Error {
	return &Error{Code: code, Name: names[code], Msg: fmt.Sprintf(format, args...)}
}

// With adds an entry to the error's data and returns the error.
func (e *Error) With(key string, value any) *Error {
	if e.Data == nil {
		e.Data = map[string]any{}
	}
	e.Data[key] = value
	return e
}

// Recode changes the error's code. The client may try again after retryMS milliseconds; 0 is never.
func (e *Error) Recode(code, retryMS int) *Error {
	e.Code, e.Name, e.RetryMS = code, names[code], retryMS
	return e
}

// Exceeds returns the error for a limit: its name and value, what was asked for, and the server flag
// that raises it, "" if there is none.
func Exceeds(limit string, value, asked int64, raise string) *Error {
	e := Errorf(Limit, "limit %s is %d, asked for %d", limit, value, asked).
		With("limit", limit).With("value", value).With("asked", asked)
	if raise != "" {
		e.Msg += "; start the server with " + raise + " to raise it"
		e.With("raise", raise)
	}
	return e
}

func badFrame(format string, args ...any) *Error { return Errorf(BadFrame, format, args...) }

func tooLarge(asked uint64, limit int) *Error {
	return Errorf(TooLarge, "a message of at least %d bytes, want at most %d", asked, limit).
		With("limit", "message bytes").With("value", limit).With("asked", asked)
}
