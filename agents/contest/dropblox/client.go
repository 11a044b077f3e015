package dropblox

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"blockyard/agents/contest/dropblox/protocol"
	"blockyard/datasets/program"
	"blockyard/env/dropblox"
)

var ErrDenied = errors.New("wrong team name or password")

// How a client sends requests.
const (
	tries       = 3  // of one request
	refusals    = 20 // of one request that is one too many for the server, after each of which it waits
	pause       = 500 * time.Millisecond
	patience    = 20 * time.Second // for one answer
	longestWait = time.Minute      // between two requests while waiting for the game
)

// A Contest is a client of a contest's server for one team.
type Contest struct {
	URL    string // without a path
	Config Config
	HTTP   *http.Client
}

func NewContest(url string, config Config) *Contest {
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &Contest{strings.TrimRight(url, "/"), config, &http.Client{Timeout: patience, CheckRedirect: stay}}
}

func (c *Contest) Practice(ctx context.Context) (*Remote, error) {
	reply, err := c.ask(ctx, protocol.CreatePractice, protocol.Request{})
	if err != nil {
		return nil, err
	}
	if reply.Ret != protocol.OK {
		return nil, refused(reply)
	}
	return newRemote(c, reply)
}

// Compete waits for the team's game of the next round. waiting is called once if the team has to wait; it may be nil.
func (c *Contest) Compete(ctx context.Context, waiting func()) (*Remote, error) {
	for {
		reply, err := c.ask(ctx, protocol.GetCompete, protocol.Request{})
		if err != nil {
			return nil, err
		}
		switch reply.Ret {
		case protocol.OK:
			return newRemote(c, reply)
		case protocol.Fail:
			return nil, refused(reply)
		}
		if waiting != nil {
			waiting()
			waiting = nil
		}
		wait := pause
		if w := reply.WaitTime; w != nil && *w >= 0 && *w <= longestWait.Seconds() {
			wait = time.Duration(*w * float64(time.Second))
		}
		if err := program.Sleep(ctx, max(wait, 10*time.Millisecond)); err != nil {
			return nil, err
		}
	}
}

func refused(r *protocol.Reply) error {
	return fmt.Errorf("the server refuses: %.200q (code %d)", r.Reason, r.Code)
}

// ask sends a request, and again after an error of the server or the connection, or when the server says that it may.
func (c *Contest) ask(ctx context.Context, path string, req protocol.Request) (*protocol.Reply, error) {
	req.Team, req.Password = c.Config.Team, c.Config.Password
	body, err := json.Marshal(req)
	if err != nil {
		return nil, err
	}
	for failed, refused := 0, 0; ; {
		reply, again, err := c.post(ctx, path, body)
		if again > 0 {
			refused++
		} else {
			failed++
		}
		if err == nil || again < 0 || failed == tries || refused == refusals || ctx.Err() != nil {
			return reply, err
		}
		if err := program.Sleep(ctx, max(again, pause)); err != nil {
			return nil, err
		}
	}
}

// never says that a request is not to be sent again.
const never time.Duration = -1

// post sends a request once. again is when to send it again: never, soon (0), or after this time.
func (c *Contest) post(ctx context.Context, path string, body []byte) (
	reply *protocol.Reply, again time.Duration, err error,
) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.URL+path, bytes.NewReader(body))
	if err != nil {
		return nil, never, err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := c.HTTP.Do(req)
	if err != nil {
		return nil, 0, err
	}
	defer resp.Body.Close()
	switch {
	case resp.StatusCode == http.StatusUnauthorized:
		return nil, never, fmt.Errorf("%s: %w", c.URL, ErrDenied)
	case resp.StatusCode != http.StatusOK:
		text, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<10))
		err = fmt.Errorf("%s%s: %s: %.200q", c.URL, path, resp.Status, bytes.TrimSpace(text))
		if resp.StatusCode == http.StatusTooManyRequests {
			seconds, _ := strconv.ParseUint(resp.Header.Get("Retry-After"), 10, 16)
			again = min(max(time.Second, time.Duration(seconds)*time.Second), longestWait)
		} else if resp.StatusCode < http.StatusInternalServerError {
			again = never
		}
		return nil, again, err
	}
	text, err := io.ReadAll(io.LimitReader(resp.Body, protocol.MaxReply))
	if err != nil {
		return nil, 0, fmt.Errorf("%s%s: %w", c.URL, path, err)
	}
	if reply, err = protocol.ReadReply(bytes.NewReader(text)); err != nil {
		return nil, never, fmt.Errorf("%s%s: reply: %w", c.URL, path, err)
	}
	return reply, never, nil
}

// A Config is a team's name and password, the two lines of config.txt.
type Config struct {
	Team     string
	Password string
}

func ReadConfig(path string) (Config, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return Config{}, fmt.Errorf("%w; want two lines: team name and password", err)
	}
	c, err := parseConfig(string(text))
	if err != nil {
		err = fmt.Errorf("%s: %w", path, err)
	}
	return c, err
}

func parseConfig(text string) (c Config, err error) {
	lines := strings.Split(strings.TrimPrefix(text, "\ufeff"), "\n")
	if len(lines) < 2 {
		return c, errors.New("want two lines: team name and password")
	}
	c = Config{strings.TrimSpace(lines[0]), strings.TrimSpace(lines[1])}
	switch {
	case c.Team == "" || len(c.Team) > protocol.MaxName:
		return c, fmt.Errorf("line 1: a team name of %d bytes, want 1 to %d", len(c.Team), protocol.MaxName)
	case c.Password == "" || len(c.Password) > protocol.MaxSecret:
		return c, fmt.Errorf("line 2: a password of %d bytes, want 1 to %d", len(c.Password), protocol.MaxSecret)
	}
	return c, nil
}

type Remote struct {
	ID string

	contest *Contest
	game    *dropblox.Position
	turns   int
	ends    time.Time
	expired bool
}

var _ Game = (*Remote)(nil)

func newRemote(c *Contest, reply *protocol.Reply) (*Remote, error) {
	if reply.Game == nil {
		return nil, errors.New("the server's reply holds no game")
	}
	r := &Remote{contest: c, ID: string(reply.Game.ID)}
	if err := CheckID(r.ID); err != nil {
		return nil, fmt.Errorf("the server's reply: %w", err)
	}
	return r, r.take(reply.Game, reply.Game.State, reply.Seconds)
}

const maxTurns = 1 << 30

func (r *Remote) take(g *protocol.Game, state json.RawMessage, seconds *float64) error {
	if g == nil || string(g.ID) != r.ID || g.Moves < 0 || g.Moves > maxTurns {
		return fmt.Errorf("the server's reply holds no game %s", r.ID)
	}
	p, err := dropblox.ParsePosition(state)
	if err != nil {
		return fmt.Errorf("the server's reply: %w", err)
	}
	if seconds == nil || *seconds > 1e6 || *seconds < -1e6 {
		return errors.New("the server's reply does not say how many seconds remain")
	}
	r.game, r.turns = p, g.Moves
	// The server sends whole seconds, rounded up: the earliest end so far is the best estimate.
	if ends := time.Now().Add(time.Duration(*seconds * float64(time.Second))); r.ends.IsZero() || ends.Before(r.ends) {
		r.ends = ends
	}
	return nil
}

func (r *Remote) Status() Status {
	state := r.game.AppendJSON(make([]byte, 0, 4096))
	return Status{state, r.turns, r.game.Score, r.game.Failed, why(r.expired), time.Until(r.ends)}
}

// Expire implements Game. The server ends the game by itself.
func (r *Remote) Expire() { r.game.Failed, r.expired = true, true }

func (r *Remote) Submit(ctx context.Context, commands []dropblox.Command) error {
	id, moves, made := protocol.ID(r.ID), make([]string, len(commands)), r.turns
	for k, c := range commands {
		moves[k] = c.String()
	}
	reply, err := r.contest.ask(ctx, protocol.SubmitMove, protocol.Request{Game: &id, Moves: &moves, MovesMade: &made})
	if err != nil {
		return err
	}
	return r.answered(reply, made)
}

// answered takes the reply to a turn that was submitted after so many.
func (r *Remote) answered(reply *protocol.Reply, made int) error {
	state := reply.State // a reply has two places for it
	if reply.Game != nil && len(reply.Game.State) > 0 {
		state = reply.Game.State
	}
	// The turn was played, but the answer to this very request was lost, and it was sent again.
	played := reply.Game != nil && reply.Game.Moves == made+1
	switch {
	case reply.Ret == protocol.OK, reply.Code == protocol.OutOfStep && played:
		return r.take(reply.Game, state, reply.Seconds)
	case reply.Code != protocol.GameOver:
		return refused(reply)
	}
	p, err := dropblox.ParsePosition(state)
	if err != nil {
		return fmt.Errorf("the server's reply: %w", err)
	}
	p.Failed = true
	r.game, r.expired = p, !played
	if played {
		r.turns = made + 1
	}
	return nil
}
