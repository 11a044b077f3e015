package openenv

import "fmt"

// object is a JSON object.
type object = map[string]any

// schemaOf returns the JSON schema of an object. extra allows properties besides those named.
func schemaOf(title string, extra bool, properties object, required ...string) object {
	out := object{"title": title, "type": "object", "properties": properties, "additionalProperties": extra}
	if len(required) > 0 {
		out["required"] = required
	}
	return out
}

func typed(kind, description string) object { return object{"type": kind, "description": description} }

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
	ignored := typed("object", "Ignored.")
	return object{
		"action": schemaOf("Action", false, object{
			"move": typed("string", "One of legal_moves, such as "+s.c.Game.Text(0)+"."), "metadata": ignored}, "move"),
		"observation": schemaOf("Observation", false, object{
			"text": typed("string", "The position in plain text."),
			"legal_moves": object{"type": "array", "items": object{"type": "string"},
				"description": "What may be played now; empty when the episode is over."},
			"error": typed("string", "Why the last move was not played; empty if it was. "+
				"The position is then as before, and the reward is the penalty of an illegal move."),
			"seat":      typed("integer", "The seat of the agent, from 0."),
			"scores":    object{"type": "array", "items": object{"type": "integer"}, "description": "Points by seat."},
			"result":    typed("number", "-1 (lost) to 1 (won) once the game is over, 0 before."),
			"truncated": typed("boolean", "The limit of steps has ended the episode, not the rules."),
			"metadata":  typed("object", "The episode_id."),
		}, "text", "legal_moves", "error", "seat", "scores", "result", "truncated", "metadata"),
		"state": schemaOf("State", true, object{
			"episode_id":    object{"type": []string{"string", "null"}, "description": "null before the first reset."},
			"step_count":    typed("integer", "Moves of the agent in this episode, illegal ones included."),
			"game":          typed("string", "The name of the environment."),
			"opponents":     typed("string", "What plays the other seats."),
			"seats":         typed("integer", "The number of players."),
			"seat":          typed("integer", "The seat of the agent, from 0."),
			"seed":          object{"type": []string{"integer", "null"}, "description": "The seed of the episode."},
			"illegal_moves": typed("integer", "Illegal moves of the agent in this episode."),
			"total_reward":  typed("number", "The sum of the episode's rewards."),
			"done":          typed("boolean", "The episode is over."),
		}, "step_count", "game", "opponents", "seats", "seat", "illegal_moves", "total_reward", "done"),
	}
}

// openAPI is what /openapi.json says.
func (s *Server) openAPI() object {
	all := s.schemas()
	body := func(schema object) object {
		return object{"content": object{"application/json": object{"schema": schema}}}
	}
	answer := func(description string, schema object) object {
		ok := body(schema)
		ok["description"] = description
		refused := body(schemaOf("Error", false, object{"detail": typed("string", "What was wrong.")}, "detail"))
		refused["description"] = "The request was refused."
		return object{"200": ok, "4XX": refused, "503": refused}
	}
	id := typed("string", "The episode; the one without a name by default.")
	result := schemaOf("Result", false, object{
		"observation": all["observation"], "done": typed("boolean", "The episode is over."),
		"reward": object{"type": []string{"number", "null"}, "description": "null after a reset."},
	}, "observation", "reward", "done")
	plain := object{"type": "object"}
	get := func(summary string, schema object) object {
		return object{"get": object{"summary": summary, "responses": answer(summary, schema)}}
	}
	post := func(summary string, q, schema object) object {
		return object{"post": object{"summary": summary, "requestBody": body(q), "responses": answer(summary, schema)}}
	}
	state := get("The state of an episode.", all["state"].(object))
	state["get"].(object)["parameters"] = []object{{"name": "episode_id", "in": "query", "schema": id}}
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
			"/reset": post("Begin an episode.", schemaOf("Reset", true, object{
				"seed": object{"type": "integer", "minimum": 0,
					"description": "The same seed and moves give the same episode."},
				"episode_id": id, "seat": typed("integer", "The seat of the agent, from 0.")}), result),
			"/step": post("Play a move.", schemaOf("Step", true, object{
				"action": all["action"], "episode_id": id}, "action"), result),
			"/mcp": post("The tools, by MCP or plain JSON-RPC.", plain, plain),
		},
	}
}
