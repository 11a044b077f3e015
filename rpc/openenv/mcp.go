package openenv

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// newMCP returns what serves MCP's streamable HTTP. All its sessions share one mcp.Server, whose tools find the game of
// a session by its id.
func (s *Server) newMCP() {
	s.mcp = mcp.NewServer(&mcp.Implementation{Name: "blockyard " + s.c.Game.ID, Version: s.c.Version},
		&mcp.ServerOptions{Capabilities: &mcp.ServerCapabilities{}, Instructions: "Play " + s.c.Game.ID +
			": read rules once, then observe and play until the game is over. legal_moves lists what may be played."})
	for _, t := range s.tools {
		s.mcp.AddTool(&mcp.Tool{Name: t.name, Description: t.description, InputSchema: t.input,
			Annotations: &mcp.ToolAnnotations{ReadOnlyHint: !t.changes}}, s.mcpTool(t))
	}
	quiet := slog.New(slog.DiscardHandler) // it logs every connection that ends early as an error
	s.mcpHTTP = mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s.mcp },
		&mcp.StreamableHTTPOptions{JSONResponse: true, SessionTimeout: s.c.Idle, MaxRequestBodyBytes: int64(s.c.MaxMessage),
			Logger: quiet, DisableLocalhostProtection: true}) // guard protects
}

// serveMCP serves /mcp: MCP to clients that speak its transport, otherwise plain JSON-RPC.
func (s *Server) serveMCP(w http.ResponseWriter, r *http.Request) {
	begun := r.Header.Get("Mcp-Session-Id") != ""
	if r.Method == http.MethodPost {
		b, err := s.body(w, r)
		if err != nil {
			s.refuse(w, err)
			return
		}
		if !begun && !strings.Contains(strings.Join(r.Header.Values("Accept"), ","), "text/event-stream") {
			s.answer(w, s.rpc(secretOf(r), b, nil), nil)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(b))
	}
	if err := s.room(); !begun && err != nil {
		s.refuse(w, err)
		return
	}
	s.mcpHTTP.ServeHTTP(w, r)
}

// room fails if the server takes no more sessions of MCP. They count as sessions of the server only with their first
// call of a tool.
func (s *Server) room() error {
	if s.draining.Load() {
		return errDraining
	}
	n := 0
	for range s.mcp.Sessions() {
		n++
	}
	if n >= s.c.Sessions {
		return &failure{http.StatusServiceUnavailable, "CAPACITY_REACHED",
			errors.New("there are as many MCP sessions as --max-sessions allows: end one")}
	}
	return nil
}

// mcpTool returns what serves a tool over MCP.
func (s *Server) mcpTool(t tool) mcp.ToolHandler {
	return func(_ context.Context, q *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		p, err := s.mcpSession(q)
		if err != nil {
			return s.mcpFailure(err), nil
		}
		text, value, err := t.call(p, q.Params.Arguments)
		if err != nil {
			return s.mcpFailure(err), nil
		}
		structured, err := json.Marshal(value)
		if err != nil {
			return nil, err
		}
		p.guest.Requested(len(q.Params.Arguments))
		p.guest.Answered(len(text) + len(structured))
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}},
			StructuredContent: json.RawMessage(structured)}, nil
	}
}

// mcpSession returns the session of an MCP session, which it creates at the first call and closes at the end.
func (s *Server) mcpSession(q *mcp.CallToolRequest) (*session, error) {
	r := http.Request{Header: http.Header{}}
	if q.Extra != nil && q.Extra.Header != nil {
		r.Header = q.Extra.Header
	}
	id := "mcp:" + q.Session.ID()
	p, created, err := s.episodes.open(secretOf(&r), &id, false)
	if created {
		go func() {
			_ = q.Session.Wait() // how it ended does not matter
			p.close()
		}()
	}
	return p, err
}

// mcpFailure is an error that the model gets to read.
func (s *Server) mcpFailure(err error) *mcp.CallToolResult {
	return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: s.failureOf(err).Error()}}}
}

// closeMCP ends all sessions of MCP.
func (s *Server) closeMCP() {
	var all []*mcp.ServerSession
	for p := range s.mcp.Sessions() {
		all = append(all, p)
	}
	for _, p := range all {
		_ = p.Close() // the client may have gone first
	}
}
