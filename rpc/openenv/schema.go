package openenv

import (
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/google/jsonschema-go/jsonschema"
)

// object is a JSON object.
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

// metadata is what /metadata says.
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

// schemas is what /schema says.
func (s *Server) schemas() object {
	return object{"action": schemaOf[action]("Action", false), "observation": schemaOf[observation]("Observation", false),
		"state": schemaOf[state]("State", true)}
}

// openAPI is what /openapi.json says.
func (s *Server) openAPI() object {
	body := func(schema any) object {
		return object{"content": object{"application/json": object{"schema": schema}}}
	}
	answer := func(description string, schema any) object {
		ok, refused := body(schema), body(schemaOf[struct {
			Detail string `json:"detail" jsonschema:"What was wrong."`
		}]("Error", false))
		ok["description"], refused["description"] = description, "The request was refused."
		return object{"200": ok, "4XX": refused, "503": refused}
	}
	get := func(summary string, schema any) object {
		return object{"get": object{"summary": summary, "responses": answer(summary, schema)}}
	}
	post := func(summary string, q, schema any) object {
		return object{"post": object{"summary": summary, "requestBody": body(q), "responses": answer(summary, schema)}}
	}
	plain := object{"type": "object"}
	state := get("The state of an episode.", schemaOf[state]("State", true))
	state["get"].(object)["parameters"] = []object{{"name": "episode_id", "in": "query",
		"schema": object{"type": "string"}}}
	return object{
		"openapi": "3.1.0",
		// The version is that of the standard's API, by which its validator chooses what to check.
		"info": object{"title": s.c.Game.ID + " by OpenEnv", "version": "1.0.0",
			"description": "Server version " + s.c.Version + ". WebSocket sessions are at /ws, MCP tools at /mcp."},
		"paths": object{
			"/health":   get("Whether the server works.", plain),
			"/metadata": get("What the environment is.", plain),
			"/schema":   get("JSON schemas of action, observation and state.", plain),
			"/state":    state,
			"/reset":    post("Begin an episode.", schemaOf[resetOptions]("Reset", true), schemaOf[result]("Result", false)),
			"/step":     post("Play a move.", schemaOf[stepRequest]("Step", true), schemaOf[result]("Result", false)),
			"/mcp":      post("The tools, by MCP or plain JSON-RPC.", plain, plain),
		},
	}
}
