package openenv

import (
	"encoding/json"
	"errors"
	"fmt"
)

// An rpcRequest is a request of JSON-RPC 2.0, by which the standard's own clients call tools.
type rpcRequest struct {
	Version string          `json:"jsonrpc"`
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params"`
	ID      json.RawMessage `json:"id"` // a string, a number or null
}

type rpcResponse struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  any             `json:"result,omitempty"`
	Error   *rpcError       `json:"error,omitempty"`
}

type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func (e *rpcError) Error() string { return e.Message }

// Error codes of JSON-RPC.
const (
	rpcParse    = -32700
	rpcRequests = -32600
	rpcMethod   = -32601
	rpcParams   = -32602
	rpcServer   = -32000
)

// rpcArguments are the params of the methods below.
type rpcArguments struct {
	SessionID string          `json:"session_id"` // of openenv/session/create or an episode_id
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

// rpc answers a request. own is the session of the connection; nil if it has none.
func (s *Server) rpc(secret string, b []byte, own *session) *rpcResponse {
	var q rpcRequest
	out := &rpcResponse{Version: "2.0", ID: json.RawMessage("null")}
	var err error
	switch {
	case !json.Valid(b):
		err = &rpcError{rpcParse, "not JSON"}
	case decode("request", b, &q, true) != nil || q.Version != "2.0" || q.Method == "" || !scalar(q.ID):
		err = &rpcError{rpcRequests, `not a request: want {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}`}
	default:
		if len(q.ID) > 0 {
			out.ID = q.ID
		}
		out.Result, err = s.method(secret, &q, own)
	}
	var e *rpcError
	if err != nil && !errors.As(err, &e) {
		f := s.failureOf(err)
		e = &rpcError{rpcServer, f.Error()}
		if f.code == "VALIDATION_ERROR" {
			e.Code = rpcParams
		}
	}
	out.Error = e
	return out
}

// scalar reports whether b is what the id of a request may be.
func scalar(b json.RawMessage) bool {
	return len(b) == 0 || b[0] != '{' && b[0] != '[' && b[0] != 't' && b[0] != 'f'
}

// method calls a method of the standard.
func (s *Server) method(secret string, q *rpcRequest, own *session) (any, error) {
	var a rpcArguments
	if len(q.Params) > 0 && string(q.Params) != "null" {
		if err := decode("params", q.Params, &a, false); err != nil {
			return nil, err
		}
	}
	switch q.Method {
	case "openenv/session/create":
		id := "" // the standard wants a session before its first reset
		if _, _, err := s.episodes.open(secret, &id, true); err != nil {
			return nil, err
		}
		return object{"session_id": id}, nil
	case "openenv/session/close":
		if a.SessionID == "" {
			return nil, invalid(errors.New("params has no session_id"))
		}
		p, err := s.episodes.find(secret, a.SessionID)
		if err != nil {
			return nil, err
		}
		p.close()
		return object{"session_id": a.SessionID, "closed": true}, nil
	case "tools/list":
		list := []object{}
		for _, t := range s.tools {
			list = append(list, object{"name": t.name, "description": t.description, "inputSchema": t.input})
		}
		return object{"tools": list}, nil
	case "tools/call":
		p := own
		if p == nil || a.SessionID != "" {
			var err error
			if p, err = s.rpcSession(secret, a.SessionID); err != nil {
				return nil, err
			}
		}
		return s.call(p, a.Name, a.Arguments)
	}
	return nil, &rpcError{rpcMethod, fmt.Sprintf("method %.40q: want tools/list, tools/call, openenv/session/create or "+
		"openenv/session/close", q.Method)}
}

// rpcSession finds a session by its id. Without one it is the episode without a name, which this begins if need be.
func (s *Server) rpcSession(secret, id string) (*session, error) {
	if id != "" {
		return s.episodes.find(secret, id)
	}
	p, _, err := s.episodes.open(secret, &id, false)
	return p, err
}

// call calls a tool. What a model may mend is a result with isError, which it gets to read, and not an error.
func (s *Server) call(p *session, name string, arguments json.RawMessage) (any, error) {
	for _, t := range s.tools {
		if t.name != name {
			continue
		}
		text, value, err := t.call(p, arguments)
		if err != nil {
			return object{"content": []object{{"type": "text", "text": s.failureOf(err).Error()}}, "isError": true}, nil
		}
		return object{"content": []object{{"type": "text", "text": text}}, "structuredContent": value, "isError": false}, nil
	}
	return nil, invalid(fmt.Errorf("no tool %.40q: tools/list names them", name))
}
