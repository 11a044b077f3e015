// Package openenv serves a game to language agents by the OpenEnv standard: observations, legal moves and moves are
// text. rpc/python/docs/openenv.md describes it for users.
//
//	GET  /health /metadata /schema /openapi.json    facts, which need no token
//	POST /reset /step, GET /state                   an episode by its episode_id (episodes.go)
//	GET  /ws                                        a WebSocket: a session with an episode of its own (websocket.go)
//	POST /mcp                                       the game as tools, by MCP (mcp.go) or as plain JSON-RPC (jsonrpc.go)
//
// All of them play sessions (session.go). A session is one game in a vec.Env and a server.Guest: it counts towards the
// limits of the server and of its token, and is closed when nobody has used it for Config.Idle.
//
// Web pages cannot reach a game (guard.go): a request with the Host of a name that is not ours, as after DNS
// rebinding, or with the Origin of another site is refused.
package openenv
