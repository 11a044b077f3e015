package openenv

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"blockyard/rpc/wire"
)

// A message is what a client sends over a WebSocket.
type message struct {
	Type string          `json:"type"` // reset, step, state, mcp or close
	Data json.RawMessage `json:"data"`
}

// An action is one move or, as the standard has it, the call of a tool. The standard wants other keys to be refused.
type action struct {
	Move      *string         `json:"move,omitempty" jsonschema:"One of legal_moves."`
	Branch    string          `json:"branch,omitempty" jsonschema:"The branch to play in; none by default."`
	Type      string          `json:"type,omitempty" jsonschema:"call_tool, list_tools, or a move by default."`
	Tool      string          `json:"tool_name,omitempty" jsonschema:"The tool of call_tool."`
	Arguments json.RawMessage `json:"arguments,omitempty" jsonschema:"The arguments of call_tool."`
	Metadata  map[string]any  `json:"metadata,omitempty" jsonschema:"Ignored."`
}

// A stepRequest is the body of POST /step. As the standard says, unknown keys are ignored.
type stepRequest struct {
	Action    json.RawMessage `json:"action" jsonschema:"What /schema calls an action."`
	EpisodeID string          `json:"episode_id,omitempty" jsonschema:"The episode; the one without a name by default."`
}

func parseMessage(b []byte) (m message, err error) {
	if !json.Valid(b) {
		return m, &failure{http.StatusBadRequest, "INVALID_JSON",
			errors.New(`not JSON: want an object such as {"type": "reset", "data": {}}`)}
	}
	return m, decode("message", b, &m, true)
}

func parseAction(b []byte) (a action, err error) {
	if err := decode("action", b, &a, true); err != nil {
		return a, err
	}
	switch a.Type {
	case "call_tool", "list_tools":
	case "", "move":
		if a.Move == nil {
			err = errors.New(`action has no move: want {"move": TEXT}, one of legal_moves`)
		}
	default:
		err = fmt.Errorf("action: type is %.40q, want call_tool, list_tools or none", a.Type)
	}
	if err != nil {
		return a, invalid(err)
	}
	return a, nil
}

func parseReset(b []byte) (o resetOptions, err error) { return o, optional("reset", b, &o, false) }

// optional is decode of what may be missing.
func optional(what string, b []byte, into any, strict bool) error {
	if b = bytes.TrimSpace(b); len(b) == 0 || string(b) == "null" {
		return nil
	}
	return decode(what, b, into, strict)
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
	if kind, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		err = fmt.Errorf("%s is a %s, want %s", kind.Field, kind.Value, wanted[kind.Type.Kind()])
	}
	if err != nil {
		return invalid(fmt.Errorf("%s: %s", what, strings.TrimPrefix(err.Error(), "json: ")))
	}
	return nil
}

// wanted says in JSON's terms what a kind of Go reads.
var wanted = map[reflect.Kind]string{
	reflect.Uint64: "a whole number, at least 0", reflect.Int: "a whole number", reflect.String: "a string",
	reflect.Bool: "true or false", reflect.Slice: "a list", reflect.Struct: "an object", reflect.Map: "an object",
}

// A failure is an error with what the standard says of it, over HTTP and over a WebSocket.
type failure struct {
	status int    // of HTTP
	code   string // WSErrorCode
	err    error
}

func (f *failure) Error() string { return f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

// invalid says that a request breaks the schema, badRequest that it cannot be done now, gone that no session has it.
func invalid(err error) error {
	return &failure{http.StatusUnprocessableEntity, "VALIDATION_ERROR", err}
}
func badRequest(err error) error { return &failure{http.StatusBadRequest, "EXECUTION_ERROR", err} }
func gone(err error) error       { return &failure{http.StatusNotFound, "SESSION_ERROR", err} }

var errDraining = &failure{http.StatusServiceUnavailable, "CAPACITY_REACHED",
	errors.New("the server is about to end and takes no new sessions: try another one, or later")}

// failureOf returns what the client is told of an error. Errors of ours are logged.
func (s *Server) failureOf(err error) *failure {
	var f *failure
	var refused *wire.Error
	switch {
	case errors.As(err, &f):
		return f
	case errors.As(err, &refused) && (refused.Code == wire.AuthRequired || refused.Code == wire.AuthFailed):
		return &failure{http.StatusUnauthorized, "SESSION_ERROR",
			errors.New("this server wants its token: send the header Authorization: Bearer TOKEN")}
	case errors.As(err, &refused) && refused.Code == wire.Limit:
		return &failure{http.StatusServiceUnavailable, "CAPACITY_REACHED", errors.New(refused.Msg)}
	}
	s.c.Log.Error("openenv", "err", err)
	return &failure{http.StatusInternalServerError, "EXECUTION_ERROR", err}
}

// An object is a JSON object that is built by hand, where no struct describes it.
type object = map[string]any

// schemaOf returns the JSON schema of a struct, whose tags describe its fields. extra allows properties besides those.
func schemaOf[T any](title string, extra bool) *jsonschema.Schema {
	s, err := jsonschema.For[T](&jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[json.RawMessage](): {Type: "object"}}})
	if err != nil {
		panic(err) // the types are ours
	}
	if s.Title = title; extra {
		s.AdditionalProperties = nil
	}
	return s
}

func (s *Server) metadata() object {
	g := s.c.Game
	with := ""
	if s.c.Seats > 1 {
		with = fmt.Sprintf(" with %d players, against %s", s.c.Seats, s.c.Opponents)
	}
	return object{
		"name": g.ID, "version": s.c.Version, "readme_content": s.c.Rules,
		"description": fmt.Sprintf("%s by the rules of its contest%s. Observations, legal moves and moves are text.",
			g.ID, with),
	}
}

func (s *Server) schemas() object {
	return object{"action": schemaOf[action]("Action", false), "observation": schemaOf[observed]("Observation", false),
		"state": schemaOf[state]("State", true)}
}

func (s *Server) openAPI() object {
	content := func(schema any) object { return object{"application/json": object{"schema": schema}} }
	refused := object{"description": "The request was refused.", "content": content(schemaOf[struct {
		Detail string `json:"detail" jsonschema:"What was wrong."`
	}]("Error", false))}
	does := func(summary string, schema any) object {
		ok := object{"description": summary, "content": content(schema)}
		return object{"summary": summary, "responses": object{"200": ok, "4XX": refused, "503": refused}}
	}
	get := func(summary string, schema any) object { return object{"get": does(summary, schema)} }
	post := func(summary string, q, schema any) object {
		out := does(summary, schema)
		out["requestBody"] = object{"content": content(q)}
		return object{"post": out}
	}
	plain := object{"type": "object"}
	state := does("The state of an episode.", schemaOf[state]("State", true))
	state["parameters"] = []object{{"name": "episode_id", "in": "query", "schema": object{"type": "string"}}}
	return object{
		"openapi": "3.1.0",
		// The version is that of the standard's API, by which its validator chooses what to check.
		"info": object{"title": s.c.Game.ID + " by OpenEnv", "version": "1.0.0",
			"description": "Server version " + s.c.Version + ". WebSocket sessions are at /ws, MCP tools at /mcp."},
		"paths": object{
			"/health":   get("Whether the server works.", plain),
			"/metadata": get("What the environment is.", plain),
			"/schema":   get("JSON schemas of action, observation and state.", plain),
			"/state":    object{"get": state},
			"/reset":    post("Begin an episode.", schemaOf[resetOptions]("Reset", true), schemaOf[result]("Result", false)),
			"/step":     post("Play a move.", schemaOf[stepRequest]("Step", true), schemaOf[result]("Result", false)),
			"/mcp":      post("The tools, by MCP or plain JSON-RPC.", plain, plain),
		},
	}
}
