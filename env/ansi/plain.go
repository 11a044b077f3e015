package ansi

import (
	"strconv"
	"strings"
)

// Plain returns a text that somebody else wrote as one line for people: at most so many bytes, without control
// characters, by which a text could change what a terminal shows.
func Plain(text string, most int) string {
	if len(text) > most {
		text = text[:most] + "…"
	}
	return strings.Map(func(r rune) rune {
		if !strconv.IsPrint(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "?"))
}
