package openenv

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"blockyard/rpc/session/limits"
)

// newMCP makes what serves MCP's streamable HTTP: one mcp.Server, whose tools find the game of a session by its id.
func (s *Server) newMCP() {
	s.mcp = mcp.NewServer(&mcp.Implementation{Name: "blockyard " + s.c.Game.ID, Version: s.c.Version},
		&mcp.ServerOptions{Capabilities: &mcp.ServerCapabilities{},
			Instructions: "Play " + s.c.Game.ID + " with the tools until the game is over."})
	for _, m := range s.methods {
		t := &mcp.Tool{Name: m.name, Description: m.description, InputSchema: m.input,
			Annotations: &mcp.ToolAnnotations{ReadOnlyHint: !m.changes}}
		s.tools = append(s.tools, t)
		s.mcp.AddTool(t, s.mcpTool)
	}
	s.mcp.AddReceivingMiddleware(s.countMCP)
	quiet := slog.New(slog.DiscardHandler) // it logs every connection that ends early as an error
	s.mcpHTTP = mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s.mcp },
		&mcp.StreamableHTTPOptions{JSONResponse: true, SessionTimeout: s.c.Idle, Logger: quiet,
			MaxRequestBodyBytes: int64(s.limits.MaxMessage), DisableLocalhostProtection: true}) // package web protects
}

// serveMCP serves /mcp: MCP to clients that speak its transport, otherwise plain JSON-RPC.
func (s *Server) serveMCP(token *limits.Holder, w http.ResponseWriter, r *http.Request) {
	id := r.Header.Get("Mcp-Session-Id")
	if r.Method == http.MethodPost {
		b, err := s.body(w, r)
		if err != nil {
			s.answer(w, nil, err)
			return
		}
		if id == "" && !strings.Contains(strings.Join(r.Header.Values("Accept"), ","), "text/event-stream") {
			out, err := s.rpc(token, b, nil)
			s.answer(w, out, err)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(b))
	}
	var err error
	if id != "" {
		_, err = s.find(token, ownPrefix+id) // that of another token is not found
	} else if p, _, full := s.open(token, rand.Text(), nil); full == nil {
		p.close() // there is room for one more
	} else {
		err = full
	}
	if err != nil {
		s.answer(w, nil, err)
		return
	}
	s.mcpHTTP.ServeHTTP(w, r)
}

// countMCP has every session of MCP count as one of the server, with its first message and until it ends. serveMCP has
// compared its token. A client may first ask for versions, in a session that ends with the answer and plays no game: if
// that counted, the client could find its own place taken, by what it just asked.
func (s *Server) countMCP(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, q mcp.Request) (mcp.Result, error) {
		if method == "server/discover" {
			return next(ctx, method, q)
		}
		token, err := s.tokenOfMCP(q)
		if err != nil {
			return nil, s.failureOf(err)
		}
		p, created, err := s.open(token, ownPrefix+q.GetSession().ID(), nil)
		if err != nil {
			return nil, s.failureOf(err)
		}
		if created {
			session := q.GetSession().(*mcp.ServerSession)
			go func() {
				_ = session.Wait() // how it ended does not matter
				p.close()
			}()
		}
		p.touch()
		return next(ctx, method, q)
	}
}

func (s *Server) tokenOfMCP(q mcp.Request) (*limits.Holder, error) {
	if extra := q.GetExtra(); extra != nil {
		return s.tokenOf(extra.Header)
	}
	return s.tokenOf(nil)
}

// mcpTool serves a method as a tool of MCP.
func (s *Server) mcpTool(_ context.Context, q *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	token, _ := s.tokenOfMCP(q) // countMCP has opened its session
	p, err := s.find(token, ownPrefix+q.Session.ID())
	if err != nil {
		return s.toolError(err), nil
	}
	out, err := s.callTool(p, q.Params.Name, q.Params.Arguments)
	if err == nil {
		structured, _ := out.StructuredContent.(json.RawMessage)
		p.requested(len(q.Params.Arguments))
		p.answered(len(structured))
	}
	return out, err
}

// rpcServer is the code of errors that are neither of the request nor of its params.
const rpcServer = -32000

// rpcArguments are the params of the methods below.
type rpcArguments struct {
	SessionID string          `json:"session_id"` // of openenv/session/create or an episode_id
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

// rpc answers a request of JSON-RPC 2.0, as the standard's clients send it. own is the connection's session, or nil.
func (s *Server) rpc(token *limits.Holder, b []byte, own *session) (json.RawMessage, error) {
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
		if value, err = s.answerTo(token, q, own); err == nil {
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
	if errors.As(err, new(*jsonrpc.Error)) {
		return err
	}
	f, code := s.failureOf(err), int64(rpcServer)
	if f.code == "VALIDATION_ERROR" {
		code = jsonrpc.CodeInvalidParams
	}
	return &jsonrpc.Error{Code: code, Message: f.Error()}
}

func (s *Server) answerTo(token *limits.Holder, q *jsonrpc.Request, own *session) (any, error) {
	var a rpcArguments
	if err := optional("params", q.Params, &a, false); err != nil {
		return nil, err
	}
	switch q.Method {
	case "openenv/session/create":
		id := rand.Text() // the standard wants a session before its first reset
		_, _, err := s.open(token, id, nil)
		return object{"session_id": id}, err
	case "openenv/session/close":
		if a.SessionID == "" {
			return nil, invalid(errors.New("params has no session_id"))
		}
		p, err := s.find(token, a.SessionID)
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
			p, err = s.find(token, a.SessionID)
		} else if own == nil {
			p, _, err = s.open(token, "", nil)
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
