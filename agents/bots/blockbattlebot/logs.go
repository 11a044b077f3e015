// Package logs contains games that two contest engines played with bots: every line in both
// directions. Tests of both sides of the protocol and of bots to be submitted replay them.
package logs

import (
	"bytes"
	"compress/gzip"
	_ "embed" // for the logs
	"encoding/json"
	"errors"
	"fmt"
	"io"
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
	var out []Log
	for d := json.NewDecoder(z); ; {
		var l Log
		err := d.Decode(&l)
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, fmt.Errorf("protocol logs: %w", err)
		}
		out = append(out, l)
	}
}
