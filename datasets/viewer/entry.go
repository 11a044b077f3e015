package viewer

import (
	"errors"
	"time"
	"unicode/utf8"
)

// An entry is a game in the list.
type entry struct {
	ID      string    `json:"id"`
	Game    string    `json:"game"`
	Players []string  `json:"players"`
	Scores  []int     `json:"scores,omitempty"`
	Results []float32 `json:"results,omitempty"`
	Length  int       `json:"length"` // choices, or turns
	Time    int64     `json:"time"`   // of the game or its file, in milliseconds since 1970
	Live    bool      `json:"live,omitempty"`
	Stopped bool      `json:"stopped,omitempty"`
	Error   string    `json:"error,omitempty"`

	file, path string // as shown, and on the disk
	number     int    // of the game in its file, from 1
	line       int    // its first line, from 1
	offset     int64
	part       int // of a game with several lines: the last one read
	open       bool
	history    texts // of a history folder
	version    int   // changes when another game takes this place
	changed    time.Time
}

// fresh reports whether the entry's file may still be being written.
func (e *entry) fresh() bool { return time.Since(e.changed) < quiet }

// film opens the entry's game.
func (e *entry) film() (film, error) {
	if e.Error != "" {
		return nil, errors.New(e.Error)
	}
	if e.history != nil {
		return newCommands(&history{texts: e.history}), nil
	}
	return newReplay(e)
}

// short cuts a text to at most n bytes, between characters.
func short(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}
