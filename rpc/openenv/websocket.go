package openenv

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"blockyard/datasets/program/web"

	"github.com/coder/websocket"
)

// A reply is what the server sends over a WebSocket.
type reply struct {
	Type string `json:"type"` // observation, state, mcp or error
	Data any    `json:"data"`
}

// An errorReply is the data of a reply of type error.
type errorReply struct {
	Message string `json:"message"`
	Code    string `json:"code"`
}

// A socket is a WebSocket and the session that it plays.
type socket struct {
	srv  *Server
	conn *websocket.Conn
	*session
	secret string // of the client
	out    bytes.Buffer
	slow   *time.Timer // ends the connection of a client that does not read
}

// websocket serves GET /ws: a session of its own until the connection ends, or with ?session_id= that of an episode.
func (s *Server) websocket(w http.ResponseWriter, r *http.Request) {
	secret := secretOf(r)
	// The guard has compared Origin and Host.
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{InsecureSkipVerify: true})
	if err != nil {
		return // Accept has answered
	}
	defer conn.CloseNow()
	conn.SetReadLimit(int64(s.c.MaxMessage))
	c := &socket{srv: s, conn: conn, secret: secret, slow: time.AfterFunc(s.c.Write, func() { conn.CloseNow() })}
	c.slow.Stop() // until something is sent
	if id := r.URL.Query().Get("session_id"); id != "" {
		c.session, err = s.episodes.find(secret, id)
	} else {
		c.session, err = s.newSession(secret, nil)
		if err == nil {
			defer c.session.close()
			web.Known(r, "session") // there are at most as many as the limits allow
		}
	}
	if err != nil {
		_ = c.fail(err)
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
		c.session.guest.Requested(len(b))
		m, err := parseMessage(b)
		if err == nil && m.Type == "close" {
			_ = c.conn.Close(websocket.StatusNormalClosure, "")
			return
		}
		var data any
		kind := "observation"
		if err == nil {
			kind, data, err = c.answer(&m)
		}
		if err != nil {
			err = c.fail(err)
		} else {
			err = c.send(kind, data)
		}
		if err != nil {
			return
		}
	}
}

// answer does what a message asks for.
func (c *socket) answer(m *message) (kind string, data any, err error) {
	switch m.Type {
	case "reset":
		o, err := parseReset(m.Data)
		if err != nil {
			return "", nil, err
		}
		r, err := c.session.reset(o)
		return "observation", r, err
	case "step":
		a, err := parseAction(m.Data)
		if err != nil {
			return "", nil, err
		}
		data, err = c.srv.act(c.session, a)
		return "observation", data, err
	case "state":
		st, err := c.session.state()
		return "state", st, err
	case "mcp":
		data, err = c.srv.rpc(c.secret, m.Data, c.session)
		return "mcp", data, err
	}
	return "", nil, &failure{http.StatusBadRequest, "UNKNOWN_TYPE",
		fmt.Errorf("message of type %.40q: want reset, step, state, mcp or close", m.Type)}
}

// fail tells the client about an error.
func (c *socket) fail(err error) error {
	e := errorReply{Message: err.Error(), Code: "INVALID_JSON"}
	if !errors.Is(err, errNotJSON) {
		f := c.srv.failureOf(err)
		e = errorReply{Message: f.Error(), Code: f.code}
	}
	return c.send("error", e)
}

// encode writes a message to c.out.
func (c *socket) encode(kind string, data any) error {
	c.out.Reset()
	j := json.NewEncoder(&c.out)
	j.SetEscapeHTML(false)
	return j.Encode(reply{kind, data})
}

// send sends a message.
func (c *socket) send(kind string, data any) error {
	if err := c.encode(kind, data); err != nil {
		return err
	}
	if c.session != nil {
		c.session.guest.Answered(c.out.Len())
	}
	c.slow.Reset(c.srv.c.Write)
	defer c.slow.Stop()
	return c.conn.Write(context.Background(), websocket.MessageText, c.out.Bytes())
}
