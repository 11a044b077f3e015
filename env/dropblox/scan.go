package dropblox

import (
	"fmt"
	"strconv"
)

// A scanner reads JSON (RFC 8259) as far as a position needs it: keys in any order and
// spacing, what is unknown skipped. The first error stays.
type scanner struct {
	text []byte
	at   int
	err  error
}

func (s *scanner) fail(format string, args ...interface{}) {
	if s.err == nil {
		s.err = fmt.Errorf("byte %d: "+format, append([]interface{}{s.at}, args...)...)
		s.at = len(s.text)
	}
}

// peek returns the next byte that is no space, 0 at the end.
func (s *scanner) peek() byte {
	for ; s.at < len(s.text); s.at++ {
		switch s.text[s.at] {
		case ' ', '\t', '\n', '\r':
		default:
			return s.text[s.at]
		}
	}
	return 0
}

// take passes over one byte, which must come next.
func (s *scanner) take(c byte) {
	if got := s.peek(); got != c {
		if got == 0 {
			s.fail("the text ends, want %q", c)
			return
		}
		s.fail("%q, want %q", got, c)
		return
	}
	s.at++
}

// object calls member at the value of every key.
func (s *scanner) object(member func(key string)) {
	s.take('{')
	for first := true; s.err == nil && s.peek() != '}'; first = false {
		if !first {
			s.take(',')
		}
		key := s.str()
		s.take(':')
		if s.err == nil {
			member(key)
		}
	}
	s.take('}')
}

// array calls element at every value.
func (s *scanner) array(element func(k int)) {
	s.take('[')
	for k := 0; s.err == nil && s.peek() != ']'; k++ {
		if k > 0 {
			s.take(',')
		}
		if s.err == nil {
			element(k)
		}
	}
	s.take(']')
}

// str reads a string. Escapes stay as they are: no key or word here needs one.
func (s *scanner) str() string {
	s.take('"')
	from := s.at
	for ; s.at < len(s.text); s.at++ {
		switch c := s.text[s.at]; {
		case c == '\\':
			s.at++
		case c == '"':
			s.at++
			return string(s.text[from : s.at-1])
		case c < ' ':
			s.fail("byte %#x in a string", c)
			return ""
		}
	}
	s.fail("a string without an end")
	return ""
}

// integer reads a whole number from lo to hi; 5.0 and 5e0 are not written so by any host.
func (s *scanner) integer(what string, lo, hi int) int {
	s.peek()
	n, err := strconv.Atoi(s.number())
	if s.err == nil && (err != nil || n < lo || n > hi) {
		s.fail("%s is not a whole number from %d to %d", what, lo, hi)
		return lo
	}
	return n
}

// number passes over a run of what numbers are made of.
func (s *scanner) number() string {
	from := s.at
	for ; s.at < len(s.text); s.at++ {
		switch c := s.text[s.at]; {
		case c >= '0' && c <= '9', c == '-', c == '+', c == '.', c == 'e', c == 'E':
		default:
			return string(s.text[from:s.at])
		}
	}
	return string(s.text[from:s.at])
}

// maxDepth bounds how deep a value that is skipped may nest.
const maxDepth = 64

// skip passes over any value.
func (s *scanner) skip(depth int) {
	switch c := s.peek(); {
	case depth > maxDepth:
		s.fail("values nested deeper than %d", maxDepth)
	case c == '{':
		s.object(func(string) { s.skip(depth + 1) })
	case c == '[':
		s.array(func(int) { s.skip(depth + 1) })
	case c == '"':
		s.str()
	case c == '-' || c >= '0' && c <= '9':
		if _, err := strconv.ParseFloat(s.number(), 64); err != nil {
			s.fail("no number")
		}
	default:
		for _, word := range [3]string{"true", "false", "null"} {
			if end := s.at + len(word); end <= len(s.text) && string(s.text[s.at:end]) == word {
				s.at = end
				return
			}
		}
		s.fail("no value")
	}
}
