package blockbattle

import "strings"

// A Token is one word of an answer (rules §4.2).
type Token uint8

// The tokens.
const (
	Left Token = iota
	Right
	Down
	TurnLeft
	TurnRight
	Drop
	Skip
)

// MaxTokens is the number of parts of an answer that are read (rules §4.4).
const MaxTokens = 41

var words = [...]string{"left", "right", "down", "turnleft", "turnright", "drop", "skip"}

// String returns the word that a bot writes.
func (t Token) String() string { return words[t] }

// ParseToken reads one word, ignoring case.
func ParseToken(word string) (Token, bool) {
	for i, w := range words {
		if strings.EqualFold(w, word) {
			return Token(i), true
		}
	}
	return 0, false
}

// ParseAnswer reads an answer line as Game and ClassicGame do (rules §4.4) and appends its tokens
// to dst. odd lists the parts that were skipped and the empty part "" that ended the reading.
func ParseAnswer(line string, dst []Token) (tokens []Token, odd []string) {
	line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
	parts := strings.TrimRight(line, ",")
	if parts == "" || strings.EqualFold(line, "no_moves") {
		return dst, nil
	}
	for i, rest, more := 0, parts, true; more && i < MaxTokens; i++ {
		var part string
		part, rest, more = cut(rest)
		if part == "" {
			return dst, append(odd, part)
		}
		if t, ok := ParseToken(part); ok {
			dst = append(dst, t)
		} else {
			odd = append(odd, part)
		}
	}
	return dst, odd
}

// ParsePortAnswer reads an answer line as PortGame does (rules §16): "pass" means "down", the
// line "no_moves" is one "down", and a single bad part, returned in odd, voids the whole line.
func ParsePortAnswer(line string, dst []Token) (tokens []Token, odd []string) {
	line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
	if strings.EqualFold(line, "no_moves") {
		return append(dst, Down), nil
	}
	tokens = dst
	for rest, more := line, true; more; {
		var part string
		part, rest, more = cut(rest)
		t, ok := ParseToken(part)
		if strings.EqualFold(part, "pass") {
			t, ok = Down, true
		}
		if !ok {
			return dst, []string{part}
		}
		tokens = append(tokens, t)
	}
	return tokens, nil
}

func cut(s string) (part, rest string, more bool) {
	if i := strings.IndexByte(s, ','); i >= 0 {
		return s[:i], s[i+1:], true
	}
	return s, "", false
}
