package limits

import (
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"blockyard/rpc/wire"
)

// A Token admits the clients that send it in hello. Its limits bound all its sessions together, in addition to the
// limits of the server; 0 is no limit of its own.
type Token struct {
	Name   string // in stats, errors and the log; may be "" for the only token of a server
	Secret string

	MaxSessions int64 // connections
	MaxEnvs     int64 // open games
	MaxMemory   int64 // estimated bytes of open games and uploaded weights
}

var tokenName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$`)

// ParseTokens reads the text of a token file. It is either one line with one token, or one line per token:
//
//	NAME TOKEN [max_sessions=N] [max_envs=N] [max_memory=BYTES]
//
// Empty lines and lines that begin with # are ignored. Names and tokens must differ. Errors name lines, not tokens.
func ParseTokens(text string) ([]Token, error) {
	var all []Token
	alone := false // a token without a name
	for k, line := range strings.Split(text, "\n") {
		words := strings.Fields(line)
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		if alone || len(words) == 1 && len(all) > 0 {
			return nil, fmt.Errorf("line %d: a token without a name must be the only one: want NAME TOKEN on each line", k+1)
		}
		t := Token{Secret: words[0]}
		if alone = len(words) == 1; !alone {
			t = Token{Name: words[0], Secret: words[1]}
			if !tokenName.MatchString(t.Name) {
				return nil, fmt.Errorf("line %d: want NAME TOKEN, the name of letters, digits, -, _ and dots, at most 64", k+1)
			}
		}
		for n := 2; n < len(words); n++ {
			if err := t.set(words[n]); err != nil {
				return nil, fmt.Errorf("line %d: word %d: %w", k+1, n+1, err)
			}
		}
		for _, other := range all {
			switch {
			case other.Name == t.Name:
				return nil, fmt.Errorf("line %d: there is another token named %s: give this one a name of its own", k+1, t.Name)
			case other.Secret == t.Secret:
				return nil, fmt.Errorf("line %d: %s and %s have the same token: want one for each", k+1, other.Name, t.Name)
			}
		}
		all = append(all, t)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("no token: want a line with a token, or lines NAME TOKEN")
	}
	return all, nil
}

// set sets a limit from "max_envs=100".
func (t *Token) set(option string) error {
	name, value, _ := strings.Cut(option, "=")
	limits := map[string]*int64{"max_sessions": &t.MaxSessions, "max_envs": &t.MaxEnvs, "max_memory": &t.MaxMemory}
	limit := limits[name]
	n, err := strconv.ParseInt(value, 10, 64)
	switch {
	case limit == nil: // the name may be part of a token
		return fmt.Errorf("want max_sessions=N, max_envs=N or max_memory=BYTES after the token, which has no blanks")
	case err != nil || n < 1:
		value = value[:min(len(value), 20)] // shorter than a token, which it may contain
		return fmt.Errorf("%s is %q, want a whole number from 1 to %d", name, value, math.MaxInt64)
	}
	*limit = n
	return nil
}

// A Holder is a token and what its sessions have open together, which its Ledger guards; nil where none is needed.
type Holder struct {
	Token
	sum    [sha256.Size]byte // of the secret
	bounds []bound
	open   Use
}

// Recognize returns the holder of a secret, nil if clients need no token. Its time does not depend on the secrets.
func (l *Ledger) Recognize(secret string) (*Holder, error) {
	if len(l.holders) == 0 {
		return nil, nil
	}
	if secret == "" {
		return nil, wire.Errorf(wire.AuthRequired, "this server requires a token in hello")
	}
	var found *Holder
	sum := sha256.Sum256([]byte(secret))
	for _, h := range l.holders {
		if subtle.ConstantTimeCompare(h.sum[:], sum[:]) == 1 {
			found = h
		}
	}
	if found == nil {
		return nil, wire.Errorf(wire.AuthFailed, "wrong token")
	}
	return found, nil
}

// room fails if u exceeds a limit of the token. A nil holder has none.
func (h *Holder) room(u Use) error {
	if h == nil {
		return nil
	}
	b, n := exceeded(h.bounds, h.open, u)
	if b == nil {
		return nil
	}
	e := wire.Exceeds(b.name, b.most, n, "")
	e.Msg += fmt.Sprintf(" with token %s; raise %s in its line of --token-file", h.Token.Name, b.name)
	return e.With("raise", "--token-file").With("token", h.Token.Name)
}

// Name is the name of the token, "" if there is none.
func (h *Holder) Name() string {
	if h == nil {
		return ""
	}
	return h.Token.Name
}

// For returns the limits that apply to sessions with a token: its own where they are lower.
func (l *Ledger) For(h *Holder) Limits {
	out := l.limits
	if h != nil {
		for _, b := range h.bounds {
			if limit := reflect.ValueOf(&out).Elem().FieldByName("Max" + useFields[b.field].Name); limit.Int() > b.most {
				limit.SetInt(b.most)
			}
		}
	}
	return out
}
