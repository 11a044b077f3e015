package matches

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"blockyard/agents/bots"
	"blockyard/agents/bots/entry"
	"blockyard/agents/fleet"
	"blockyard/agents/match"
	"blockyard/env"
	"blockyard/env/games"
	"blockyard/env/vec"
)

// Version is that of the messages and of the spec. Hosts and workers of different versions refuse each other.
const Version = 2

// A spec is what a worker needs to know of a match.
type spec struct {
	fleet.Head
	Table    []string `json:"table,omitempty"` // of the game; see env.Game
	Rules    int      `json:"rules"`
	Features string   `json:"features"` // SHA-256 of their names
	Shipped  string   `json:"shipped"`  // SHA-256 of the weights in the program
	Check    string   `json:"check"`    // SHA-256 of the self-test
	Players  []player `json:"players"`  // A and B, if there is a B
	Seats    int      `json:"seats"`    // of the self-test
	Cap      int      `json:"cap"`
	Steps    int      `json:"steps"`
	Limits   Limits   `json:"limits"`
}

// A player is one player of a match.
type player struct {
	Name string `json:"name"` // in records
	Spec string `json:"spec"` // with weights named by content
}

// An Agent is what a player of the match is made of: its name in records, and the spec of its agents.
type Agent struct{ Name, Spec string }

// pack describes an agent of this command line. Its weights are added to files, by content.
func pack(g *env.Game, a Agent, files map[string][]byte) (player, error) {
	agent, err := bots.Parse(g, bots.Own(a.Spec))
	if err != nil {
		return player{}, err
	}
	p := player{Name: a.Name}
	spec, name, data, err := agent.Portable()
	if errors.Is(err, bots.ErrUntrusted) {
		return p, fmt.Errorf("agent %.80q: it is a program of this machine, which workers do not have: "+
			"play this match without --cluster", a.Spec)
	} else if err != nil {
		return p, err
	}
	if p.Spec = spec; name != "" {
		files[name] = data
	}
	f, err := agent.Factory()
	if err != nil {
		return p, err
	}
	made, err := f(0)
	if err != nil {
		return p, err
	}
	if r, ok := made.(vec.Resumable); ok {
		if _, err := r.AppendMemory(nil); err != nil {
			return p, fmt.Errorf("agent %.80q: %w", a.Spec, err)
		}
	}
	return p, nil
}

// open returns the player, whose weights get returns by the SHA-256 of their object.
func (p *player) open(g *env.Game, get func(name string) ([]byte, error)) (match.Player, error) {
	f, err := bots.New(g, bots.Foreign(p.Spec, func(name string) ([]byte, error) {
		return get(strings.TrimPrefix(name, bots.ContentPrefix))
	}))
	return match.Player{Name: p.Name, New: f}, err
}

// open returns the match, or why this program cannot play it.
func (s *spec) open(ctx context.Context, get func(name string) ([]byte, error)) (*match.Match, error) {
	refuse := func(what string, theirs, ours any) error {
		return fmt.Errorf("match %s: its process has %s %v, this worker %v: run the same program", s.Run, what, theirs, ours)
	}
	if s.Version != Version {
		return nil, refuse("format version", s.Version, Version)
	}
	g, err := games.Recorded(s.Game, s.Table)
	if err != nil {
		return nil, fmt.Errorf("match %s: %w: run the same program", s.Run, err)
	}
	shipped, err := shippedID(g)
	switch {
	case err != nil:
		return nil, err
	case g.Rules != s.Rules:
		return nil, refuse("rules of "+s.Game+" in version", s.Rules, g.Rules)
	case featuresID(g) != s.Features:
		return nil, refuse("features of "+s.Game+" with the hash", s.Features, featuresID(g))
	case shipped != s.Shipped:
		return nil, refuse("weights of "+s.Game+" with the hash", s.Shipped, shipped)
	case len(s.Players) < 1 || len(s.Players) > 2:
		return nil, fmt.Errorf("match %s: %d players, want 1 or 2", s.Run, len(s.Players))
	}
	m := &match.Match{Rules: g, Cap: s.Cap, Steps: s.Steps}
	for k, to := range []*match.Player{&m.A, &m.B}[:len(s.Players)] {
		if *to, err = s.Players[k].open(g, get); err != nil {
			return nil, fmt.Errorf("match %s: %w", s.Run, err)
		}
	}
	check, err := selfTest(ctx, m, s.Seats)
	if err == nil && check != s.Check {
		err = fmt.Errorf("match %s: the self-test of this worker gives %.12s, that of the match's process %.12s. Evaluation "+
			"or moves differ: run the same program on a processor of the same architecture and features",
			s.Run, check, s.Check)
	}
	return m, err
}

// featuresID identifies the features of a game.
func featuresID(g *env.Game) string {
	f := bots.Features(g)
	if f == nil {
		return "none"
	}
	return hash(f.Names)
}

// shippedID identifies the weights that the program has for a game.
func shippedID(g *env.Game) (string, error) {
	e := bots.Of(g)
	var file []byte
	if e.Learned != nil {
		var err error
		if file, err = fs.ReadFile(e.Learned.Files, e.Learned.File); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
	}
	return hash(handWeights(e), file), nil
}

func handWeights(e *entry.Entry) []float32 {
	if e.Baseline == nil {
		return nil
	}
	return e.Baseline.Weights
}

// selfTestSteps are enough for every player of every seat to have moved.
const selfTestSteps = 6

// selfTest plays the first steps of a game and returns the SHA-256 of moves and evaluations.
func selfTest(ctx context.Context, m *match.Match, seats int) (string, error) {
	short := match.Match{Rules: m.Rules, A: m.A, B: m.B, Steps: selfTestSteps}
	u := match.Unit{Seed: 0x73656c66}
	if seats == 1 {
		u.Games = append(u.Games, []match.Entrant{{}})
		if m.B.New != nil {
			u.Games = append(u.Games, []match.Entrant{{B: true}})
		}
	} else {
		lineup := make([]match.Entrant, seats)
		for k := range lineup {
			lineup[k] = match.Entrant{B: k > 0, Stream: uint64(k)}
		}
		u.Games = append(u.Games, lineup)
	}
	records, err := short.PlayUnit(ctx, u)
	if err != nil {
		return "", fmt.Errorf("self-test: %w", err)
	}
	return hash(records), nil
}

func hash(values ...any) string {
	h := sha256.New()
	for _, v := range values {
		text, err := json.Marshal(v)
		if err != nil {
			panic(err) // plain fields with finite numbers
		}
		h.Write(text)
	}
	return hex.EncodeToString(h.Sum(nil))
}
