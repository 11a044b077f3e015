// Package ansi is the way to a terminal: it makes text harmless.
//
// Much of what the programs print is written by others: names in records, the language that a submission claims, the
// standard error of a bot, the errors of a server or worker. Control sequences in it could rewrite what stands above,
// set the title, write to the clipboard, or make the terminal answer as if the user had typed, perhaps only when
// somebody prints a log. A call at every place that prints foreign text would have to be remembered at each. Instead,
// the standard streams of the programs (package program) and the logs of games are Writers, and what the programs style
// themselves is written to Styled, the only way around one; env/once_test.go says who may use it and the streams. What
// a Writer cannot know is where a foreign text ends: a name or a reason goes through Plain, so that it cannot forge
// another line of a table.
package ansi

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"unicode/utf16"
	"unicode/utf8"
)

// A Writer passes on text that a terminal can only show. Every character that does anything else (control characters,
// those that turn the direction of writing, those that no font shows) appears as its number, such as \u001b, which is
// also how JSON writes it. Line ends and tabs are passed on. A Writer is safe for concurrent use.
type Writer struct {
	To io.Writer

	mu   sync.Mutex
	rest []byte // begins a character of which more is to come
}

// Write passes on b, but for a character that is not complete yet, and reports that all of b is written.
func (w *Writer) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	text, out := append(w.rest, b...), make([]byte, 0, len(b))
	for len(text) > 0 && utf8.FullRune(text) && string(text) != "\r" {
		r, n := utf8.DecodeRune(text)
		switch {
		case r == '\n' || r == '\t' || strconv.IsGraphic(r):
			out = utf8.AppendRune(out, r)
		case r == '\r' && text[1] == '\n': // as some systems end lines
		default:
			for _, half := range utf16.AppendRune(nil, r) {
				out = fmt.Appendf(out, `\u%04x`, half)
			}
		}
		text = text[n:]
	}
	w.rest = append(w.rest[:0], text...)
	if len(out) == 0 {
		return len(b), nil
	}
	_, err := w.To.Write(out)
	return len(b), err
}

// Fd is the descriptor of the file that w writes to, or no valid one if that is no file.
func (w *Writer) Fd() uintptr {
	if f, ok := w.To.(interface{ Fd() uintptr }); ok {
		return f.Fd()
	}
	return ^uintptr(0)
}

// Styled returns what passes on control sequences, as colours of our own, to where a Writer writes: any other w itself.
func Styled(w io.Writer) io.Writer {
	if own, ok := w.(*Writer); ok {
		return own.To
	}
	return w
}

// Plain returns a text that somebody else wrote as one line for people: at most so many bytes, with a blank for each
// character that a Writer would not pass on.
func Plain(text string, most int) string {
	if len(text) > most {
		text = text[:most] + "…"
	}
	return strings.Map(func(r rune) rune {
		if !strconv.IsGraphic(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "?"))
}
