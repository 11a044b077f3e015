package bots

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"blockyard/agents/bots/entry"
	"blockyard/agents/mlp"
)

// A Text names an agent and says who wrote it: only the user's own text may start a program or read a file.
type Text struct {
	text    string
	own     bool
	weights entry.Reader // those that came along, by ContentName
}

// Own is text of the user of this program, such as an argument. TestCallersOfOwn lists its callers, with reasons.
func Own(text string) Text { return Text{text: text, own: true} }

// Foreign is text of anybody else. It only names agents of this program, and weights, by content, that came along with
// it.
func Foreign(text string, weights entry.Reader) Text { return Text{text: text, weights: weights} }

func (t Text) With(weights entry.Reader) Text {
	t.weights = weights
	return t
}

func (t Text) String() string { return t.text }

const ContentPrefix = "sha256:" // begins the name of weights that are named by content

var contentName = regexp.MustCompile(`^` + ContentPrefix + `[0-9a-f]{64}$`)

// ContentName is the name of weights by content: ContentPrefix and their SHA-256 in hexadecimal.
func ContentName(data []byte) string {
	sum := sha256.Sum256(data)
	return ContentPrefix + hex.EncodeToString(sum[:])
}

// ErrUntrusted is wrapped by errors about foreign text that reads files or runs commands.
var ErrUntrusted = errors.New("reads files or runs commands on this machine")

// Read returns the weights that the text names: those that came along with it, or, if it is the user's, a file.
func (t Text) Read(name string) ([]byte, error) {
	switch {
	case strings.HasPrefix(name, ContentPrefix) && t.weights != nil:
		if !contentName.MatchString(name) {
			return nil, fmt.Errorf("%.80q: want %s and 64 hexadecimal digits", name, ContentPrefix)
		}
		data, err := t.weights(name)
		if err == nil && ContentName(data) != name {
			err = fmt.Errorf("%.80s: its %d bytes are other weights, %s", name, len(data), ContentName(data))
		}
		return data, err
	case t.own:
		return mlp.ReadFile(name)
	}
	return nil, ErrUntrusted
}

// Portable returns the spec of an agent and its weights, named by content, as Foreign reads them elsewhere; name is
// empty without weights. The error for what is no agent of this program wraps ErrUntrusted.
func (a *Agent) Portable() (spec, name string, data []byte, err error) {
	if a.Kind != Ours || a.options.Weights == "" {
		if a.Kind != Ours {
			err = fmt.Errorf("agent %.80q: %w", a.Spec, ErrUntrusted)
		}
		return a.Spec, "", nil, err
	}
	if data, err = a.text.Read(a.options.Weights); err != nil {
		return "", "", nil, fmt.Errorf("agent %.80q: %w", a.Spec, err)
	}
	name = ContentName(data)
	_, options, _ := strings.Cut(a.Spec, ":")
	parts := strings.Split(options, ",")
	for k, part := range parts {
		if strings.HasPrefix(part, entry.WeightsOption+"=") {
			parts[k] = entry.WeightsOption + "=" + name
		}
	}
	return a.name + ":" + strings.Join(parts, ","), name, data, nil
}
