package envtest

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// Hostile are texts by which strangers could do something to the terminal that shows them, by what that is.
var Hostile = map[string]string{
	"colour":       "\x1b[31mred",
	"clear":        "\x1b[2J\x1b[H",
	"title":        "\x1b]0;title\x07",
	"link":         "\x1b]8;;http://evil.example\x1b\\bank\x1b]8;;\x1b\\",
	"clipboard":    "\x1b]52;c;ZXZpbA==\x07",
	"answer":       "\x1b[6n\x1b[c\x1bP$q\"p\x1b\\",
	"C1":           "\u009b31m\u009d0;title\u009c\u0085",
	"C1 as bytes":  "\x9b31m\x9d0;title\x9c",
	"return":       "good\rbad",
	"backspace":    "bad\b\b\bgood\x7f",
	"bell":         "\a\x0e\x0f\v\f",
	"bidi":         "\u202egnp.exe\u202c \u2066x\u2069 \u200f\u061c",
	"invisible":    "a\u200bb\ufeffc\u00add\u2060e",
	"tags":         "x\U000e0041\U000e007f",
	"separators":   "a\u2028b\u2029c",
	"invalid":      "\xff\xfe\xc3(\xed\xa0\x80\xf4\x90\x80\x80",
	"zero":         "a\x00b",
	"another line": "name\n" + forged,
}

const forged = "forged line"

// Everything is all hostile texts, each in a line or two.
func Everything() string {
	return strings.Join(slices.Sorted(maps.Values(Hostile)), "\n") + "\n"
}

// Harmless fails if a terminal would do more with a text than show it.
func Harmless(t testing.TB, shown string) {
	t.Helper()
	for _, line := range strings.Split(shown, "\n") {
		bad := strings.IndexFunc(line, func(r rune) bool { return r != '\t' && !unicode.IsGraphic(r) })
		if bad >= 0 || !utf8.ValidString(line) {
			t.Errorf("reaches the terminal: %q", line)
		}
		if strings.HasPrefix(line, forged) {
			t.Errorf("looks like a line of the program: %q", line)
		}
	}
}
