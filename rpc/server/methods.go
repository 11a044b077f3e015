package server

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"blockyard/datasets/program"
	"blockyard/env"
	"blockyard/env/games"
	"blockyard/env/vec"
	"blockyard/rpc/server/link"
	"blockyard/rpc/wire"
)

// Protocol is the protocol version, major and minor. Clients with another major version are refused.
var Protocol = [2]int{3, 0}

// quickStep is the longest duration of a step that the reading goroutine answers itself.
const quickStep = 250 * time.Microsecond

// Quick implements link.Answerer: a short step is. Agents of the server might wait, and then no goroutine would notice
// the client's disconnection.
func (s *session) Quick(f *wire.Frame) bool {
	if string(f.Method) != "step" && string(f.Method) != "step_slot" {
		return false
	}
	h := s.handles[uint32(f.Int(0, "the handle", 0, math.MaxUint32))]
	return f.Err() == nil && h != nil && h.alone && h.took < quickStep
}

// Answer implements link.Answerer.
func (s *session) Answer(f *wire.Frame) {
	defer func() {
		if p := recover(); p != nil {
			s.bug(f, p, debug.Stack())
			s.End()
		}
	}()
	s.requests++
	defer s.Memory.Release()
	if err := s.call(f); err != nil {
		s.errors++
		if bug, ok := errors.AsType[*vec.PanicError](err); ok {
			s.bug(f, bug.Value, bug.Stack)
			return
		}
		refusal := refusal(f.Method, err)
		s.Fail(f.ID, refusal)
		if refusal.Fatal() {
			s.End()
		}
	}
}

// bug logs a panic and tells the client where to find it. The games work again after a reset of all of them.
func (s *session) bug(f *wire.Frame, value any, stack []byte) {
	s.srv.log.Error("panic", "session", s.id, "token", s.token.Name(), "request", s.requests, "method", string(f.Method),
		"panic", value, "stack", string(stack))
	bug := wire.Errorf(wire.Internal, "a bug in the server: see session %d, request %d in its log", s.id, s.requests)
	s.Fail(f.ID, bug.With("session", s.id).With("request", s.requests))
}

func (s *session) call(f *wire.Frame) error {
	if name := string(f.Method); !s.Admitted() && name != "hello" && name != "ping" {
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
	params int // largest number of them
	size   link.Size
	answer func(*session, *wire.Frame) error
}

var methods = map[string]method{
	"hello":          {1, link.Small, (*session).hello},
	"ping":           {0, link.Small, func(s *session, f *wire.Frame) error { return s.Reply(f.ID, true) }},
	"games":          {0, link.Small, (*session).games},
	"describe":       {1, link.Small, of((*session).describe)},
	"text":           {2, link.Small, of((*session).text)},
	"parse":          {2, link.Bulk, of((*session).parse)},
	"observe_text":   {3, link.Bulk, with(idle, (*session).observeText)},
	"open":           {2, link.Bulk, of((*session).open)},
	"reset":          {2, link.Bulk, with(settled, (*session).reset)},
	"step":           {2, link.Steps, with(received, (*session).step)},
	"step_slot":      {2, link.Small, with(received, (*session).stepSlot)},
	"send":           {3, link.Steps, with(anything, (*session).send)},
	"recv":           {5, link.Small, with(anything, (*session).recv)},
	"stream_stats":   {1, link.Small, with(anything, (*session).streamStats)},
	"asked":          {2, link.Bulk, with(idle, (*session).askedSeats)},
	"answer":         {4, link.Bulk, with(idle, (*session).takeAnswers)},
	"final":          {2, link.Small, with(anything, (*session).final)},
	"legal":          {2, link.Bulk, with(idle, (*session).legal)},
	"afterstates":    {3, link.Bulk, with(idle, (*session).afterstates)},
	"features":       {3, link.Bulk, with(idle, (*session).features)},
	"feature_names":  {1, link.Small, of((*session).featureNames)},
	"observe":        {2, link.Bulk, with(idle, (*session).observe)},
	"snapshot":       {2, link.Bulk, with(idle, (*session).snapshot)},
	"restore":        {4, link.Bulk, with(received, (*session).restore)},
	"checkpoint":     {3, link.Bulk, with(saved, (*session).checkpoint)},
	"resume":         {5, link.Bulk, with(received, (*session).resume)},
	"replay":         {5, link.Bulk, with(settled, (*session).replay)},
	"weights":        {2, link.Small, with(settled, (*session).weights)},
	"clone":          {4, link.Bulk, with(received, (*session).clone)},
	"share":          {3, link.Small, with(anything, (*session).share)},
	"share_final":    {1, link.Small, with(settled, (*session).shareFinal)},
	"push_final":     {1, link.Small, with(settled, (*session).pushFinal)},
	"record":         {2, link.Bulk, with(settled, (*session).record)},
	"records":        {2, link.Small, with(anything, (*session).records)},
	"rollout":        {3, link.Small, with(received, (*session).rollout)},
	"set_opponents":  {3, link.Bulk, with(settled, (*session).setOpponents)},
	"opponent_stats": {2, link.Small, with(settled, (*session).opponentStats)},
	"upload":         {3, link.Bulk, of((*session).upload)},
	"drop_upload":    {1, link.Small, (*session).dropUpload},
	"report":         {2, link.Bulk, of((*session).report)},
	"render":         {3, link.Small, with(idle, (*session).render)},
	"stats":          {0, link.Small, (*session).stats},
	"close":          {1, link.Small, with(anything, (*session).close)},
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
			return blame(f.Method, h, err)
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
	if err := s.admit(token); err != nil {
		s.Fail(f.ID, refusal(f.Method, err))
		s.End()
		return nil
	}
	s.srv.log.Debug("hello", "session", s.id, "token", s.token.Name(), "client", o.Client)
	can := []string{} // what not every server of this version can
	if s.shares() {
		can = append(can, "share")
	}
	if s.srv.c.Trusted {
		can = append(can, "trust_specs")
	}
	return s.Reply(f.ID, wire.Fields{
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
		return wire.Errorf(wire.UnknownGame, "%v", games.Unknown(s.srv.c.Games, name)).With("game", name)
	}
}

func (s *session) stats(f *wire.Frame) error {
	s.srv.mu.Lock()
	sessions := len(s.srv.links)
	s.srv.mu.Unlock()
	c, failures := s.srv.Counts(), uint64(0)
	for _, n := range c.Errors {
		failures += n
	}
	cpu, err := program.CPU()
	if err != nil {
		return wire.Errorf(wire.Internal, "stats: %v", err)
	}
	stats := wire.Fields{
		"uptime_s", time.Since(s.srv.begun).Seconds(), "cpu_s", cpu.Seconds(), "sessions", sessions, "handles", c.Handles,
		"envs", c.Envs, "memory", c.Memory, "requests", c.Requests.Load(), "steps", c.Steps.Load(),
		"seat_steps", c.SeatSteps.Load(), "illegal", c.Illegal.Load(), "errors", failures,
		"goroutines", runtime.NumGoroutine(),
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
	return s.Reply(f.ID, stats)
}
