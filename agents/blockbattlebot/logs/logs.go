// Package logs holds what two contest engines once said to a bot, line by line, and what
// the bot answered, for tests of either end and of bots about to be handed in.
package logs

import (
	"bufio"
	"bytes"
	"compress/gzip"
	_ "embed" // for the logs
	"encoding/json"
	"fmt"
	"strings"
)

//go:embed protocol_logs.jsonl.gz
var packed []byte

// A Log is one game as one bot saw it.
type Log struct {
	Dialect string  `json:"dialect"` // classic or port
	Game    string  `json:"game"`
	Player  string  `json:"player"`
	Lines   []Entry `json:"log"`
}

// An Entry is one line.
type Entry struct {
	Who  string // host (to the bot), bot, or note (the host's own remark)
	Text string
}

// UnmarshalJSON reads a pair of strings.
func (e *Entry) UnmarshalJSON(text []byte) error {
	var pair [2]string
	if err := json.Unmarshal(text, &pair); err != nil {
		return err
	}
	e.Who, e.Text = pair[0], pair[1]
	return nil
}

// All returns the logs.
func All() ([]Log, error) {
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, fmt.Errorf("protocol logs: %w", err)
	}
	lines := bufio.NewScanner(z)
	lines.Buffer(nil, 16<<20)
	var out []Log
	for lines.Scan() {
		var l Log
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			return nil, fmt.Errorf("protocol logs: %w", err)
		}
		out = append(out, l)
	}
	return out, lines.Err()
}

// ToBot is everything the host said, as a bot reads it.
func (l *Log) ToBot() string {
	var b strings.Builder
	for _, e := range l.Lines {
		if e.Who == "host" {
			b.WriteString(e.Text + "\n")
		}
	}
	return b.String()
}

// Requests counts the answers that were asked for.
func (l *Log) Requests() int {
	n := 0
	for _, e := range l.Lines {
		if e.Who == "host" && strings.HasPrefix(e.Text, "action ") {
			n++
		}
	}
	return n
}
