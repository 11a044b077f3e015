package host

import (
	"fmt"
	"strings"
	"unicode"

	"blockyard/env/wintetris"
)

// A request asks the child to call a function of the library. Parent and child exchange
// requests and answers with encoding/gob, over two pipes.
type request struct {
	Function string // wt_open, wt_update or wt_close
	Options  string // of wt_open

	// The arguments of wt_update.
	Field     wintetris.Field
	Now, Next wintetris.Block
	Fresh     bool // the piece's first tick
}

// An Answer is what a function of the library has returned. The child also sends one when it has
// loaded the library. As an error it is negative: the solver refused a call or failed.
type Answer struct {
	Code   int32  // bits, or 0
	Text   string // of wt_last_error, if Code is negative
	Failed bool   // the process cannot go on: Text says why
}

// The error codes of wt_update.
var codeNames = map[int32]string{-1: "bad handle", -2: "bad argument", -3: "internal error"}

// Error implements error.
func (a *Answer) Error() string {
	name, known := codeNames[a.Code]
	if !known {
		name = "unknown failure"
	}
	text := fmt.Sprintf("wt_update answered %d (%s)", a.Code, name)
	if a.Text != "" {
		text += ": " + a.Text
	}
	return text
}

// printable returns a library's text as one line without control characters.
func printable(text []byte) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(strings.TrimRight(string(text), "\x00"), "?"))
}
