// Package protocol defines the messages between a Dropblox contest's server and its clients:
// JSON over HTTP POST (rules §15).
package protocol

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// The requests.
const (
	CreatePractice = "/create_practice_game"
	GetCompete     = "/get_compete_game"
	SubmitMove     = "/submit_game_move"
)

// The values of a reply's ret.
const (
	OK   = "ok"
	Wait = "wait"
	Fail = "fail"
)

// The codes of a Fail reply.
const (
	NoSuchGame = 1002
	NotYours   = 1003
	OutOfStep  = 1004 // moves_made does not match
	GameOver   = 1005
)

// Limits on what is read.
const (
	MaxRequest = 1 << 20 // bytes
	MaxReply   = 1 << 20 // bytes
	MaxMoves   = 1 << 16 // commands of a turn
	MaxName    = 64      // bytes of a team's name
	MaxSecret  = 256     // bytes of a password
)

// An ID identifies a game. It is written as a string, and read from a string or a number.
type ID string

func (id *ID) UnmarshalJSON(text []byte) error {
	var s string
	var n json.Number
	if json.Unmarshal(text, &s) != nil {
		if err := json.Unmarshal(text, &n); err != nil {
			return errors.New("a game's id is a string or a number")
		}
		s = n.String()
	}
	*id = ID(s)
	return nil
}

// A Request is any of the requests. Fields that a request does not need are ignored.
type Request struct {
	Team      string    `json:"team_name"`
	Password  string    `json:"password"`
	Game      *ID       `json:"game_id,omitempty"`
	Moves     *[]string `json:"move_list,omitempty"`
	MovesMade *int      `json:"moves_made,omitempty"`
}

type Game struct {
	ID    ID              `json:"id"`
	Moves int             `json:"number_moves_made"`
	State json.RawMessage `json:"game_state"`
}

type Reply struct {
	Ret      string          `json:"ret"`
	Game     *Game           `json:"game,omitempty"`
	Seconds  *float64        `json:"competition_seconds_remaining,omitempty"`
	WaitTime *float64        `json:"wait_time,omitempty"` // seconds
	Code     int             `json:"code,omitempty"`
	Reason   string          `json:"reason,omitempty"`
	State    json.RawMessage `json:"game_state,omitempty"` // of a game that is over
}

// ReadRequest reads a request and checks its limits.
func ReadRequest(r io.Reader) (*Request, error) {
	var req Request
	if err := one(r, &req); err != nil {
		return nil, err
	}
	switch {
	case len(req.Team) > MaxName:
		return nil, fmt.Errorf("team_name is longer than %d bytes", MaxName)
	case len(req.Password) > MaxSecret:
		return nil, fmt.Errorf("password is longer than %d bytes", MaxSecret)
	case req.Moves != nil && len(*req.Moves) > MaxMoves:
		return nil, fmt.Errorf("move_list is longer than %d commands", MaxMoves)
	}
	return &req, nil
}

func (r *Request) CheckMove() error {
	switch {
	case r.Game == nil:
		return errors.New("game_id is missing")
	case r.Moves == nil:
		return errors.New("move_list is missing")
	case r.MovesMade == nil:
		return errors.New("moves_made is missing")
	}
	return nil
}

func ReadReply(r io.Reader) (*Reply, error) {
	var reply Reply
	if err := one(io.LimitReader(r, MaxReply), &reply); err != nil {
		return nil, err
	}
	switch reply.Ret {
	case OK, Wait, Fail:
		return &reply, nil
	}
	return nil, fmt.Errorf("ret %q, want ok, wait or fail", reply.Ret)
}

// one decodes r, which must hold one JSON object.
func one(r io.Reader, into any) error {
	text, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	if text = bytes.TrimSpace(text); len(text) == 0 || text[0] != '{' {
		return errors.New("want a JSON object")
	}
	return json.Unmarshal(text, into)
}
