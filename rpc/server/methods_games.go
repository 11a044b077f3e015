package server

import (
	"fmt"
	"strings"

	"blockyard/agents/bots/entry"
	"blockyard/agents/bots/features"
	"blockyard/env"
	"blockyard/env/games"
	"blockyard/env/paint"
	"blockyard/env/vec"
	"blockyard/rpc/session/batch"
	"blockyard/rpc/session/memory"
	"blockyard/rpc/wire"
)

// legalRows counts legal actions of the games in param 1, as many as fit into a response of size bytes each.
func (s *session) legalRows(f *wire.Frame, h *handle, size int) (*batch.Rows, error) {
	list, err := h.begunGames(f)
	if err != nil {
		return nil, err
	}
	l := h.Legal(list, size, s.srv.ledger.Room())
	if len(l.Games) == 0 && len(list) > 0 {
		return nil, s.srv.ledger.Fits(h.Env.Rows()*(h.Game.MaxLegal*size+4) + 4)
	}
	return l, nil
}

func (s *session) legal(f *wire.Frame, h *handle) error {
	l, err := s.legalRows(f, h, 2)
	if err != nil {
		return err
	}
	if err := s.Reserve(2*l.Total() + 4*len(l.Indptr)); err != nil {
		return err
	}
	l.Fill()
	return s.Reply(f.ID, wire.Fields{"count", len(l.Games), "indptr", memory.Bytes(l.Indptr),
		"actions", memory.Bytes(l.Actions)})
}

// afterRows reads a request for afterstates whose response has size bytes for each besides actions and rewards.
func (s *session) afterRows(f *wire.Frame, h *handle, size int) (l *batch.Rows, seed uint64, err error) {
	size += batch.AfterLen
	if l, err = s.legalRows(f, h, size); err != nil {
		return nil, 0, err
	}
	o := struct {
		Seed wire.Natural `msgpack:"seed"`
	}{wire.Natural(h.NextSeed())}
	if err := f.Options(2, &o); err != nil {
		return nil, 0, err
	}
	return l, uint64(o.Seed), s.Reserve(l.Total()*size + 4*len(l.Indptr))
}

// replyAfter responds with the actions, their rewards, and the entries of more between these.
func (s *session) replyAfter(f *wire.Frame, l *batch.Rows, more ...any) error {
	head := wire.Fields{"count", len(l.Games), "indptr", memory.Bytes(l.Indptr), "actions", memory.Bytes(l.Actions)}
	return s.Reply(f.ID, append(append(head, more...), "reward", memory.Bytes(l.Reward), "done", l.Done))
}

// afterstates returns, for every legal action of every row, what the row's seat observes after it.
func (s *session) afterstates(f *wire.Frame, h *handle) error {
	l, seed, err := s.afterRows(f, h, h.Game.Planes.Len()+4*h.Game.Globals())
	if err != nil {
		return err
	}
	if err := l.Describe(seed, nil); err != nil {
		return err
	}
	return s.replyAfter(f, l, "planes", l.Planes, "globals", memory.Bytes(l.Globals))
}

// featuresOf returns the features of g, or refuses the request.
func (s *Server) featuresOf(g *env.Game, method string) (*features.Set, error) {
	if have := s.c.Features(g); have != nil {
		return have, nil
	}
	return nil, badParams("%s: %s defines no features", method, g.Name).With("game", g.Name)
}

// featureNames replies with what a file of weights for a game says in its metadata.
func (s *session) featureNames(f *wire.Frame, g *env.Game) error {
	have, err := s.srv.featuresOf(g, "feature_names")
	if err != nil {
		return err
	}
	return s.Reply(f.ID, wire.Fields{"game", entry.Base(g), "rules", g.Rules, "features", have.Names, "own", have.Own})
}

// features replies with the features of afterstates instead of their observations.
func (s *session) features(f *wire.Frame, h *handle) error {
	have, err := s.srv.featuresOf(h.Game, "features")
	if err != nil {
		return err
	}
	l, seed, err := s.afterRows(f, h, 4*len(have.Names))
	if err != nil {
		return err
	}
	if err := l.Describe(seed, have); err != nil {
		return err
	}
	return s.replyAfter(f, l, "features", memory.Bytes(l.Features))
}

func (s *session) observe(f *wire.Frame, h *handle) error {
	list, err := s.fitting(f, h, h.Config.Seats*(h.Game.Planes.Len()+4*h.Game.Globals()))
	if err != nil {
		return err
	}
	planes, globals := h.Observe(list)
	return s.Reply(f.ID, wire.Fields{"count", len(list), "planes", planes, "globals", memory.Bytes(globals)})
}

func (s *session) render(f *wire.Frame, h *handle) error {
	i := f.Int(1, "game", 0, int64(h.Config.Envs-1))
	o := struct {
		Mode  string `msgpack:"mode"`
		Title string `msgpack:"title"`
		Theme string `msgpack:"theme"`
	}{Mode: "text", Theme: "light"}
	if err := f.Options(2, &o); err != nil {
		return err
	}
	theme := paint.Themes[o.Theme]
	if theme == nil {
		return badParams(`render: theme is %.32q, want "light" or "dark"`, o.Theme)
	}
	if err := h.Awake("render"); err != nil {
		return err
	}
	var frame env.Frame
	h.Env.State(int(i)).Show(&frame)
	switch o.Mode {
	case "text":
		return s.Reply(f.ID, frame.String())
	case "ansi":
		return s.Reply(f.ID, paint.ANSI(&frame))
	case "svg":
		return s.Reply(f.ID, paint.SVG(&frame, o.Title, theme))
	case "rgb":
		pixels, width, height := paint.Pixels(&frame)
		if err := s.Reserve(len(pixels)); err != nil {
			return err
		}
		return s.Reply(f.ID, wire.Fields{"width", width, "height", height, "pixels", pixels})
	}
	return badParams(`render: mode is %.32q, want "text", "ansi", "svg" or "rgb"`, o.Mode)
}

func (s *session) games(f *wire.Frame) error {
	list := []map[string]any{}
	for _, g := range s.srv.c.Games {
		list = append(list, map[string]any{"name": g.Name, "id": g.ID, "rules": g.Rules})
	}
	return s.Reply(f.ID, list)
}

func (s *session) describe(f *wire.Frame, g *env.Game) error {
	return s.Reply(f.ID, wire.Fields{
		"name", g.Name, "id", g.ID, "rules", g.Rules, "variants", s.srv.variants(g),
		"seats", [2]int{g.MinSeats, g.MaxSeats}, "rows", g.Rows, "turn", turn(g), "actions", g.Actions,
		"max_legal", g.MaxLegal, "mask_len", g.MaskLen(), "no_action", int(env.None), "planes", map[string]any{
			"shape": [3]int{g.Planes.C, g.Planes.H, g.Planes.W}, "dtype": "|u1", "low": 0, "high": int(g.PlaneMax),
			"names": g.PlaneNames, "bits": g.CellBits(),
		},
		"globals", globalFacts(g), "opponents", s.srv.c.Opponents(g), "reward", vec.DefaultReward(g).String(),
		"max_episode_steps", 0,
	})
}

// globalFacts describes the globals of an observation, with their ranges if known.
func globalFacts(g *env.Game) map[string]any {
	facts := map[string]any{"shape": [1]int{g.Globals()}, "dtype": "<f4", "names": g.GlobalNames}
	if g.GlobalRanges != nil {
		low, high := make([]float32, g.Globals()), make([]float32, g.Globals())
		for k, r := range g.GlobalRanges {
			low[k], high[k] = r.Low, r.High
		}
		facts["low"], facts["high"] = low, high
	}
	return facts
}

func turn(g *env.Game) string {
	switch {
	case g.MaxSeats == 1:
		return "single"
	case g.Rows == 1:
		return "alternating"
	}
	return "simultaneous"
}

// variants lists the names of the other variants of g's contest.
func (s *Server) variants(g *env.Game) []string {
	family := func(g *env.Game) string { name, _, _ := strings.Cut(g.Name, ":"); return name }
	names := []string{}
	for _, other := range s.c.Games {
		if other != g && family(other) == family(g) {
			names = append(names, other.Name)
		}
	}
	return names
}

func (s *session) text(f *wire.Frame, g *env.Game) error {
	actions := f.Bin(1, "actions")
	if err := f.Err(); err != nil {
		return err
	}
	if len(actions)%2 != 0 {
		return badParams("text: actions has %d bytes, want 2 per action", len(actions))
	}
	texts := make([]string, 0, len(actions)/2)
	for i, a := range words[env.Action](actions) {
		switch {
		case a == env.None:
			texts = append(texts, none)
		case int(a) >= g.Actions:
			return badParams("text: actions[%d] is %d, want 0 to %d", i, a, g.Actions-1)
		default:
			texts = append(texts, g.Text(a))
		}
	}
	return s.Reply(f.ID, texts)
}

// none is the text of env.None.
const none = "none"

// parse is the inverse of text.
func (s *session) parse(f *wire.Frame, g *env.Game) error {
	o := struct {
		Texts []string `msgpack:"texts"`
	}{}
	if err := f.Options(1, &o); err != nil {
		return err
	}
	if err := s.srv.ledger.Fits(2 * len(o.Texts)); err != nil {
		return err
	}
	var actions []env.Action
	for i, text := range o.Texts {
		a, err := g.Parse(text)
		if text == none {
			a, err = env.None, nil
		}
		if err != nil {
			return badParams("parse: texts[%d] %.40q is no action of %s: want a text such as %q",
				i, text, g.Name, g.Text(env.Action(g.Actions/3))).With("index", i)
		}
		actions = append(actions, a)
	}
	return s.Reply(f.ID, wire.Fields{"actions", memory.Bytes(actions)})
}

// textCopies is how often texts are in memory: as they are, and encoded in a buffer that doubles.
const textCopies = 4

// observeText is observe in plain text: what people would need to play the rows of some games.
func (s *session) observeText(f *wire.Frame, h *handle) error {
	list, err := h.begunGames(f)
	if err != nil {
		return err
	}
	o := struct {
		Legal bool `msgpack:"legal"`
	}{Legal: true}
	if err := f.Options(2, &o); err != nil {
		return err
	}
	texts, size := []string{}, 0
	for _, i := range list {
		one, more := DescribeRows(h.Env, i, o.Legal), 0
		for _, text := range one {
			more += len(text) + 5
		}
		size += more
		err := s.srv.ledger.Fits(size)
		if err == nil {
			err = s.Memory.Reserve(s.Context, textCopies*more)
		}
		if err != nil {
			if len(texts) == 0 {
				return err
			}
			break
		}
		texts = append(texts, one...)
	}
	return s.Reply(f.ID, wire.Fields{"count", len(texts) / h.Env.Rows(), "texts", texts})
}

// DescribeRows describes the position of game i of e in plain text, for each of its rows: what a person needs to play
// the row's seat. With legal, the text of a seat that must act ends with its legal actions.
func DescribeRows(e *vec.Env, i int, legal bool) []string {
	var frame env.Frame
	e.State(i).Show(&frame)
	g, seats, over, driven := e.Game(), e.Config().Seats, e.Ended(i), e.Driven()
	texts := make([]string, e.Rows())
	for r, set := 0, driven; r < len(texts); r, set = r+1, set.Rest() {
		seat := e.Seat(i, r)
		acts := seat < seats && !over
		if driven.Len() == len(texts) {
			seat = set.First()
		}
		turn := "It is not your turn."
		switch {
		case over:
			turn = "The game is over."
		case acts:
			turn = "It is your turn."
		}
		texts[r] = games.Describe(g, &frame, seats, seat, turn)
		if acts && legal {
			var actions []string
			for _, a := range e.Legal(i, r, nil) {
				actions = append(actions, g.Text(a))
			}
			texts[r] += fmt.Sprintf("%d legal actions: %s\n", len(actions), strings.Join(actions, "; "))
		}
	}
	return texts
}
