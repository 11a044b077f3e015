package viewer

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"strings"
	"time"
)

// Limits of posted games. The oldest one is dropped first.
const (
	maxPosts     = 8
	maxPostBytes = 24 << 20
)

// posts are Dropblox games that the contest's own viewer has posted (rules §11).
type posts struct {
	entries []*entry
	last    int
}

// A post is one posted game: the texts of its files.
type post struct {
	id    string
	files map[string]string
	at    time.Time
}

func (p *post) name() string { return p.id }

func (p *post) text(name string) ([]byte, error) {
	text, ok := p.files[name]
	if !ok {
		return nil, fmt.Errorf("%s/%s: %w", p.id, name, fs.ErrNotExist)
	}
	return []byte(text), nil
}

func (p *post) changed() time.Time { return p.at }

// postID is the id of the posted game with a number.
func postID(number string) string { return "posted-" + number }

// take adds a posted game and returns its number.
func (p *posts) take(body []byte, now time.Time) (int, error) {
	var game struct {
		States []struct {
			State string          `json:"state"`
			Moves json.RawMessage `json:"moves"`
		} `json:"states"`
	}
	if err := json.Unmarshal(body, &game); err != nil {
		return 0, err
	}
	if len(game.States) == 0 || len(game.States) > maxTurns {
		return 0, fmt.Errorf("%d states, want 1 to %d", len(game.States), maxTurns)
	}
	number := p.last + 1
	out := &post{id: postID(fmt.Sprint(number)), files: map[string]string{}, at: now.Add(-settling - time.Second)}
	for t, s := range game.States {
		out.files[fmt.Sprintf("state%d", t)] = s.State
		moves := strings.TrimSpace(string(s.Moves))
		var text string
		if json.Unmarshal(s.Moves, &text) == nil {
			moves = strings.TrimSpace(text)
		}
		if moves != "" && moves != "null" {
			out.files[fmt.Sprintf("move%d", t)] = moves
		}
	}
	h := history{texts: out}
	last, err := h.position(len(game.States) - 1)
	if err != nil {
		return 0, err
	}
	p.last = number
	p.entries = append(p.entries, &entry{
		ID: out.id, Game: "dropblox", Players: []string{"posted game"}, Scores: []int{last.Score},
		Length: len(game.States) - 1, Time: now.UnixMilli(), file: out.id, number: 1, history: out, changed: now,
	})
	if len(p.entries) > maxPosts {
		p.entries = append([]*entry(nil), p.entries[1:]...)
	}
	return number, nil
}
