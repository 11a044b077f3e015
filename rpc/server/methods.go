package server

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"runtime"
	"slices"
	"strings"
	"time"

	"blockyard/datasets/program"
	"blockyard/env"
	"blockyard/env/games"
	"blockyard/rpc/wire"
)

// Protocol is the protocol version, major and minor. Clients with another major version are refused.
var Protocol = [2]int{3, 0}

func (s *session) call(f *wire.Frame) error {
	if name := string(f.Method); !s.greeted.Load() && name != "hello" && name != "ping" {
		return wire.Errorf(wire.AuthRequired, "the first request of a connection is hello, not %.32q", f.Method)
	}
	do, ok := methods[string(f.Method)]
	if !ok {
		return wire.Errorf(wire.UnknownMethod, "no method %.32q", f.Method).With("method", string(f.Method))
	}
	if err := f.Most(do.params); err != nil {
		return err
	}
	return do.answer(s, f)
}

// A method is how the server answers requests with one name, and how large they may be.
type method struct {
	params int  // largest number of them
	bulk   bool // a request may have up to MaxMessage bytes
	answer func(*session, *wire.Frame) error
}

var methods = map[string]method{
	"hello":          {1, false, (*session).hello},
	"ping":           {0, false, func(s *session, f *wire.Frame) error { return s.reply(f.ID, true) }},
	"games":          {0, false, (*session).games},
	"describe":       {1, false, of((*session).describe)},
	"text":           {2, false, of((*session).text)},
	"parse":          {2, true, of((*session).parse)},
	"observe_text":   {3, true, with(idle, (*session).observeText)},
	"open":           {2, true, of((*session).open)},
	"reset":          {2, true, with(settled, (*session).reset)},
	"step":           {2, false, with(received, (*session).step)},
	"step_slot":      {2, false, with(received, (*session).stepSlot)},
	"send":           {3, false, with(anything, (*session).send)},
	"recv":           {5, false, with(anything, (*session).recv)},
	"stream_stats":   {1, false, with(anything, (*session).streamStats)},
	"asked":          {2, true, with(idle, (*session).askedSeats)},
	"answer":         {4, true, with(idle, (*session).takeAnswers)},
	"final":          {2, false, with(anything, (*session).final)},
	"legal":          {2, true, with(idle, (*session).legal)},
	"afterstates":    {3, true, with(idle, (*session).afterstates)},
	"features":       {3, true, with(idle, (*session).features)},
	"feature_names":  {1, false, of((*session).featureNames)},
	"observe":        {2, true, with(idle, (*session).observe)},
	"snapshot":       {2, true, with(idle, (*session).snapshot)},
	"restore":        {4, true, with(received, (*session).restore)},
	"checkpoint":     {3, true, with(saved, (*session).checkpoint)},
	"resume":         {5, true, with(received, (*session).resume)},
	"replay":         {5, true, with(settled, (*session).replay)},
	"weights":        {2, false, with(settled, (*session).weights)},
	"clone":          {4, true, with(received, (*session).clone)},
	"share":          {3, false, with(anything, (*session).share)},
	"share_final":    {1, false, with(settled, (*session).shareFinal)},
	"push_final":     {1, false, with(settled, (*session).pushFinal)},
	"record":         {2, true, with(settled, (*session).record)},
	"records":        {2, false, with(anything, (*session).records)},
	"rollout":        {3, false, with(received, (*session).rollout)},
	"set_opponents":  {3, true, with(settled, (*session).setOpponents)},
	"opponent_stats": {2, false, with(settled, (*session).opponentStats)},
	"upload":         {3, true, of((*session).upload)},
	"drop_upload":    {1, false, (*session).dropUpload},
	"report":         {2, true, of((*session).report)},
	"render":         {3, false, with(idle, (*session).render)},
	"view":           {2, true, (*session).view},
	"stats":          {0, false, (*session).stats},
	"close":          {1, false, with(anything, (*session).close)},
}

// Methods lists the methods of the protocol, in alphabetical order.
func Methods() []string { return slices.Sorted(maps.Keys(methods)) }

// with is the answer of a method whose param 0 is a handle; need is what it needs while games are in flight.
func with(need int, answer func(*session, *wire.Frame, *handle) error) func(*session, *wire.Frame) error {
	return func(s *session, f *wire.Frame) error {
		id := f.Int(0, "the handle", 0, math.MaxUint32)
		if err := f.Err(); err != nil {
			return err
		}
		h, ok := s.handles[uint32(id)]
		if !ok {
			return wire.Errorf(wire.BadHandle, "%s: no open handle %d in this session", f.Method, id).With("h", id)
		}
		if h.Stream != nil {
			if err := h.pause(f, need); err != nil {
				return err
			}
		}
		if err := answer(s, f, h); err != nil {
			return err
		}
		h.showWatched()
		return nil
	}
}

func (s *session) hello(f *wire.Frame) error {
	var o struct {
		Proto  []int64 `msgpack:"proto"`
		Client string  `msgpack:"client"`
		Token  string  `msgpack:"token"`
		Want   any     `msgpack:"want"`
	}
	if err := f.Options(0, &o); err != nil {
		return err
	}
	if len(o.Proto) == 0 || o.Proto[0] != int64(Protocol[0]) {
		older := "client"
		if len(o.Proto) > 0 && o.Proto[0] > int64(Protocol[0]) {
			older = "server"
		}
		return wire.Errorf(wire.Version, "the client speaks protocol %s, this server (blockyard %s) %s: the %s is older, "+
			"install one of the other's version", dotted(o.Proto), s.srv.c.Version, dotted(Protocol[:]), older).
			With("proto", Protocol)
	}
	token, err := s.srv.ledger.Recognize(o.Token)
	if err != nil {
		return err
	}
	if err := s.srv.admit(s, token); err != nil {
		s.fail(f.ID, refusal(f.Method, err))
		s.end()
		return nil
	}
	s.greeted.Store(true)
	s.srv.log.Debug("hello", "session", s.id, "token", s.token.Name(), "client", o.Client)
	_ = s.conn.SetReadDeadline(time.Time{})
	can := []string{} // what not every server of this version can
	if s.shares() {
		can = append(can, "share")
	}
	if s.srv.c.Trusted {
		can = append(can, "trust_specs")
	}
	return s.reply(f.ID, wire.Fields{
		"proto", Protocol, "server", "blockyard " + s.srv.c.Version, "session", s.id, "features", can,
		"games", games.Names(s.srv.c.Games), "limits", s.srv.ledger.For(token).Told(),
	})
}

// dotted returns a protocol version as text: "2.0".
func dotted[T int | int64](version []T) string {
	text := strings.ReplaceAll(fmt.Sprint(version), " ", ".")
	return cmp.Or(strings.Trim(text, "[]"), "of no version")
}

// of is the answer of a method whose param 0 names a game.
func of(answer func(*session, *wire.Frame, *env.Game) error) func(*session, *wire.Frame) error {
	return func(s *session, f *wire.Frame) error {
		name := f.Str(0, "game")
		if err := f.Err(); err != nil {
			return err
		}
		if g := games.Find(s.srv.c.Games, name); g != nil {
			return answer(s, f, g)
		}
		return wire.Errorf(wire.UnknownGame, "no game %.64q; there are %s", name,
			strings.Join(games.Names(s.srv.c.Games), ", ")).With("game", name)
	}
}

func (s *session) stats(f *wire.Frame) error {
	s.srv.mu.Lock()
	sessions := len(s.srv.sessions)
	s.srv.mu.Unlock()
	c, failures := s.srv.Counts(), uint64(0)
	for _, e := range c.Errors {
		failures += e.Count
	}
	cpu, err := program.CPU()
	if err != nil {
		return wire.Errorf(wire.Internal, "stats: %v", err)
	}
	stats := wire.Fields{
		"uptime_s", time.Since(s.srv.begun).Seconds(), "cpu_s", cpu.Seconds(), "sessions", sessions, "handles", c.Handles,
		"envs", c.Envs, "memory", c.Memory, "requests", c.Requests, "steps", c.Steps, "seat_steps", c.SeatSteps,
		"illegal", c.Illegal, "errors", failures, "goroutines", runtime.NumGoroutine(),
		"session", map[string]any{
			"id": s.id, "handles": len(s.handles), "requests": s.requests, "illegal": s.illegal, "errors": s.errors,
		},
	}
	for _, t := range c.Tokens {
		if t.Name == s.token.Name() {
			stats = append(stats, "token",
				map[string]any{"name": t.Name, "sessions": t.Sessions, "envs": t.Envs, "memory": t.Memory})
		}
	}
	return s.reply(f.ID, stats)
}
