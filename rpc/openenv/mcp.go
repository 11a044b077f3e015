package openenv

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
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
			MaxRequestBodyBytes: int64(s.limits.MaxMessage), DisableLocalhostProtection: true}) // guard protects
}

// serveMCP serves /mcp: MCP to clients that speak its transport, otherwise plain JSON-RPC.
func (s *Server) serveMCP(w http.ResponseWriter, r *http.Request) {
	id := r.Header.Get("Mcp-Session-Id")
	if r.Method == http.MethodPost {
		b, err := s.body(w, r)
		if err != nil {
			s.refuse(w, err)
			return
		}
		if id == "" && !strings.Contains(strings.Join(r.Header.Values("Accept"), ","), "text/event-stream") {
			out, err := s.rpc(secretOf(r.Header), b, nil)
			s.answer(w, out, err)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(b))
	}
	var err error
	if id != "" {
		_, err = s.find(secretOf(r.Header), mcpPrefix+id) // that of another token is not found
	} else if p, _, full := s.open(secretOf(r.Header), rand.Text(), nil); full == nil {
		p.close() // there is room for one more
	} else {
		err = full
	}
	if err != nil {
		s.refuse(w, err)
		return
	}
	s.mcpHTTP.ServeHTTP(w, r)
}

// mcpPrefix begins the names of episodes that sessions of MCP play.
const mcpPrefix = "mcp:"

// countMCP has every session of MCP count as one of the server, with its first message and until it ends. serveMCP has
// compared its token. A client may first ask for versions, in a session that ends with the answer and plays no game: if
// that counted, the client could find its own place taken, by what it just asked.
func (s *Server) countMCP(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, q mcp.Request) (mcp.Result, error) {
		if method == "server/discover" {
			return next(ctx, method, q)
		}
		id := mcpPrefix + q.GetSession().ID()
		p, created, err := s.open(secretOfMCP(q), id, nil)
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

// secretOfMCP returns the token of a message.
func secretOfMCP(q mcp.Request) string {
	if extra := q.GetExtra(); extra != nil {
		return secretOf(extra.Header)
	}
	return ""
}

// mcpTool serves a method as a tool of MCP.
func (s *Server) mcpTool(_ context.Context, q *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	p, err := s.find(secretOfMCP(q), mcpPrefix+q.Session.ID())
	if err != nil {
		return s.toolError(err), nil
	}
	out, err := s.callTool(p, q.Params.Name, q.Params.Arguments)
	if err == nil {
		structured, _ := out.StructuredContent.(json.RawMessage)
		p.guest.Requested(len(q.Params.Arguments))
		p.guest.Answered(len(structured))
	}
	return out, err
}
