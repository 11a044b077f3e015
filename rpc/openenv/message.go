package openenv

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// A message is what a client sends over a WebSocket.
type message struct {
	Type string          `json:"type"` // reset, step, state, mcp or close
	Data json.RawMessage `json:"data"`
}

// An action is one move. The standard wants other keys to be refused.
type action struct {
	Move     *string        `json:"move"`
	Metadata map[string]any `json:"metadata"` // ignored
}

// A stepRequest is the body of POST /step. As the standard says, unknown keys are ignored.
type stepRequest struct {
	Action    json.RawMessage `json:"action"`
	EpisodeID string          `json:"episode_id"`
}

var errNotJSON = errors.New("not JSON")

// parseMessage reads a message. Its error wraps errNotJSON if b is no JSON at all.
func parseMessage(b []byte) (message, error) {
	var m message
	if !json.Valid(b) {
		return m, fmt.Errorf("%w: want an object such as {\"type\": \"reset\", \"data\": {}}", errNotJSON)
	}
	return m, decode("message", b, &m, true)
}

// parseAction returns the move of an action.
func parseAction(b []byte) (string, error) {
	var a action
	if err := decode("action", b, &a, true); err != nil {
		return "", err
	}
	if a.Move == nil {
		return "", invalid(errors.New(`action has no move: want {"move": TEXT}, one of legal_moves`))
	}
	return *a.Move, nil
}

// parseReset returns the arguments of a reset. Without any, b may be empty.
func parseReset(b []byte) (o resetOptions, err error) {
	if b = bytes.TrimSpace(b); len(b) == 0 || string(b) == "null" {
		return o, nil
	}
	return o, decode("reset", b, &o, false)
}

// decode reads one JSON object. strict refuses unknown keys.
func decode(what string, b []byte, into any, strict bool) error {
	d := json.NewDecoder(bytes.NewReader(b))
	if strict {
		d.DisallowUnknownFields()
	}
	if at := bytes.TrimLeft(b, " \t\r\n"); len(at) == 0 || at[0] != '{' {
		return invalid(fmt.Errorf("%s is no JSON object: want {...}", what))
	}
	err := d.Decode(into)
	if err == nil {
		if _, end := d.Token(); end != io.EOF {
			err = errors.New("there is more after its end")
		}
	}
	var kind *json.UnmarshalTypeError
	if errors.As(err, &kind) {
		err = fmt.Errorf("%s is a %s, want %s", kind.Field, kind.Value, wanted(kind.Type.String()))
	}
	if err != nil {
		return invalid(fmt.Errorf("%s: %s", what, strings.TrimPrefix(err.Error(), "json: ")))
	}
	return nil
}

// wanted says in JSON's terms what a Go type reads.
func wanted(kind string) string {
	switch kind {
	case "uint64":
		return "a whole number, at least 0"
	case "int":
		return "a whole number"
	case "string":
		return "a string"
	}
	return "an object"
}
