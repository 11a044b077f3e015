package openenv

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/coder/websocket"

	"blockyard/datasets/program/web"
	"blockyard/rpc/session/limits"
)

// A reply is what the server sends over a WebSocket.
type reply struct {
	Type string `json:"type"` // observation, state, mcp or error
	Data any    `json:"data"`
}

// A socket is a WebSocket and the session that it plays.
type socket struct {
	srv  *Server
	conn *websocket.Conn
	*session
	out  bytes.Buffer
	slow *time.Timer // ends the connection of a client that does not read
}

// websocket serves GET /ws: a session of its own until the connection ends, or with ?session_id= that of an episode.
func (s *Server) websocket(token *limits.Holder, w http.ResponseWriter, r *http.Request) {
	// Package web has compared Origin and Host.
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{InsecureSkipVerify: true})
	if err != nil {
		return // Accept has answered
	}
	defer conn.CloseNow()
	conn.SetReadLimit(int64(s.limits.MaxMessage))
	c := &socket{srv: s, conn: conn, slow: time.AfterFunc(s.limits.WriteTimeout, func() { conn.CloseNow() })}
	c.slow.Stop() // until something is sent
	if id := r.URL.Query().Get("session_id"); id != "" {
		c.session, err = s.find(token, id)
	} else if c.session, err = s.newSession(token); err == nil {
		defer c.session.close()
		web.Known(r, "session") // there are at most as many as the limits allow
	}
	if err != nil {
		_ = c.send(s.errorReply(err))
		_ = conn.Close(websocket.StatusTryAgainLater, "no session")
		return
	}
	// One socket for each session, which counts for its token: another one, such as that of a client which connects again,
	// takes the place of the one before.
	if before := c.session.socket.Swap(conn); before != nil {
		before.CloseNow()
	}
	defer c.session.socket.CompareAndSwap(conn, nil)
	c.run()
}

// run answers messages until the client closes the connection or the session ends.
func (c *socket) run() {
	// One function for all messages is cheaper than a context with a deadline for each.
	defer context.AfterFunc(c.session.ctx, func() { c.conn.CloseNow() })()
	for {
		_, b, err := c.conn.Read(context.Background())
		if err != nil {
			return // Read has closed the connection
		}
		c.session.requested(len(b))
		m, err := parseMessage(b)
		if err == nil && m.Type == "close" {
			_ = c.conn.Close(websocket.StatusNormalClosure, "")
			return
		}
		var r reply
		if err == nil {
			r, err = c.answer(&m)
		}
		if err != nil {
			r = c.srv.errorReply(err)
		}
		if c.send(r) != nil {
			return
		}
	}
}

func (c *socket) answer(m *message) (r reply, err error) {
	r.Type = "observation"
	switch m.Type {
	case "reset":
		var o resetOptions
		if o, err = parseReset(m.Data); err == nil {
			r.Data, err = c.session.reset(o)
		}
	case "step":
		var a action
		if a, err = parseAction(m.Data); err == nil {
			r.Data, err = c.srv.act(c.session, a)
		}
	case "state":
		r.Type = "state"
		r.Data, err = c.session.state()
	case "mcp":
		r.Type = "mcp"
		r.Data, err = c.srv.rpc(c.session.at.token, m.Data, c.session)
	default:
		err = &failure{http.StatusBadRequest, "UNKNOWN_TYPE",
			fmt.Errorf("message of type %.40q: want reset, step, state, mcp or close", m.Type)}
	}
	return r, err
}

// errorReply tells the client about an error.
func (s *Server) errorReply(err error) reply {
	f := s.failureOf(err)
	return reply{"error", object{"message": f.Error(), "code": f.code}}
}

// encode writes a message to c.out.
func (c *socket) encode(r reply) error {
	c.out.Reset()
	j := json.NewEncoder(&c.out)
	j.SetEscapeHTML(false)
	return j.Encode(r)
}

func (c *socket) send(r reply) error {
	if err := c.encode(r); err != nil {
		return err
	}
	if c.session != nil {
		c.session.answered(c.out.Len())
	}
	c.slow.Reset(c.srv.limits.WriteTimeout)
	defer c.slow.Stop()
	return c.conn.Write(context.Background(), websocket.MessageText, c.out.Bytes())
}
