package openenv

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// rpcServer is the code of errors that are neither of the request nor of its params.
const rpcServer = -32000

// rpcArguments are the params of the methods below.
type rpcArguments struct {
	SessionID string          `json:"session_id"` // of openenv/session/create or an episode_id
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

// rpc answers a request of JSON-RPC 2.0, by which the standard's own clients call tools. own is the session of the
// connection; nil if it has none.
func (s *Server) rpc(secret string, b []byte, own *session) (json.RawMessage, error) {
	out := &jsonrpc.Response{}
	m, err := jsonrpc.DecodeMessage(b)
	q, ok := m.(*jsonrpc.Request)
	switch {
	case !json.Valid(b):
		out.Error = &jsonrpc.Error{Code: jsonrpc.CodeParseError, Message: "not JSON"}
	case err != nil || !ok:
		out.Error = &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest,
			Message: `not a request: want {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}`}
	default:
		out.ID = q.ID
		var value any
		if value, err = s.method(secret, q, own); err == nil {
			out.Result, err = json.Marshal(value)
		}
		if err != nil {
			out.Error = s.rpcError(err)
		}
	}
	return jsonrpc.EncodeMessage(out)
}

// rpcError is what the client is told of an error.
func (s *Server) rpcError(err error) error {
	var e *jsonrpc.Error
	if errors.As(err, &e) {
		return e
	}
	f := s.failureOf(err)
	if f.code == "VALIDATION_ERROR" {
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: f.Error()}
	}
	return &jsonrpc.Error{Code: rpcServer, Message: f.Error()}
}

// method calls a method of the standard.
func (s *Server) method(secret string, q *jsonrpc.Request, own *session) (any, error) {
	var a rpcArguments
	if err := optional("params", q.Params, &a, false); err != nil {
		return nil, err
	}
	switch q.Method {
	case "openenv/session/create":
		id := rand.Text() // the standard wants a session before its first reset
		_, _, err := s.open(secret, id, nil)
		return object{"session_id": id}, err
	case "openenv/session/close":
		if a.SessionID == "" {
			return nil, invalid(errors.New("params has no session_id"))
		}
		p, err := s.find(secret, a.SessionID)
		if err != nil {
			return nil, err
		}
		p.close()
		return object{"session_id": a.SessionID, "closed": true}, nil
	case "tools/list":
		return object{"tools": s.tools}, nil
	case "tools/call":
		p, err := own, error(nil)
		if a.SessionID != "" {
			p, err = s.find(secret, a.SessionID)
		} else if own == nil {
			p, _, err = s.open(secret, "", nil)
		}
		if err != nil {
			return nil, err
		}
		return s.callTool(p, a.Name, a.Arguments)
	}
	return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: fmt.Sprintf(
		"method %.40q: want tools/list, tools/call, openenv/session/create or openenv/session/close", q.Method)}
}

// callTool calls a method. What a model may mend is a result with IsError, which it gets to read, and not an error.
func (s *Server) callTool(p *session, name string, arguments json.RawMessage) (*mcp.CallToolResult, error) {
	out, found, err := s.call(p, name, arguments)
	if !found {
		return nil, err
	}
	if err != nil {
		return s.toolError(err), nil
	}
	structured, err := json.Marshal(out.value)
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: out.text}},
		StructuredContent: json.RawMessage(structured)}, err
}

// toolError is an error that the model gets to read.
func (s *Server) toolError(err error) *mcp.CallToolResult {
	return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: s.failureOf(err).Error()}}}
}
