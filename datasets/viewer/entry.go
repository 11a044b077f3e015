package viewer

import (
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
	line       int    // where it begins, from 1
	offset     int64
	part       int // of a game in parts: the last one read
	open       bool
	history    texts // of a history folder
	version    int   // changes when the place of the entry holds another game
	changed    time.Time
}

// fresh reports whether what the entry was read from may still be being written.
func (e *entry) fresh() bool { return time.Since(e.changed) < quiet }

// film opens the entry's game.
func (e *entry) film() (film, error) {
	if e.Error != "" {
		return nil, errorText(e.Error)
	}
	if e.history != nil {
		return newCommands(&history{texts: e.history}), nil
	}
	return newReplay(e)
}

// short is a text of at most n bytes, cut between characters.
func short(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}
