// Package matches lets worker processes play the games of a match; see package fleet. The result is bit-identical to
// that of the same match in one process.
//
// A job is one unit of the match, such as a pair of games. Its result are the records of these games, which are
// replayed before they count. A worker is refused if its rules, features or shipped weights differ, or its moves in a
// test game. Agents that depend on a clock or on a program of one machine are refused when the match starts. An
// interrupted match cannot be continued.
package matches

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"blockyard/agents/bots"
	"blockyard/agents/fleet"
	"blockyard/agents/match"
	"blockyard/env"
	"blockyard/env/games"
	"blockyard/env/vec"
)

// Kind is the kind of a run that is a match.
const Kind = "match"

// A spec is what a worker needs to know of a match, besides the facts.
type spec struct {
	Table   []string `json:"table,omitempty"` // of the game; see env.Game
	Check   string   `json:"check"`           // SHA-256 of the self-test
	Players []player `json:"players"`         // A and B, if there is a B
	Seats   int      `json:"seats"`           // of every game
	Cap     int      `json:"cap"`
	Steps   int      `json:"steps"`
}

type player struct {
	Name string `json:"name"` // in records
	Spec string `json:"spec"` // with weights named by content
}

// pack describes an agent of this command line. Its weights are added to files.
func pack(g *env.Game, name, text string, files *[][]byte) (player, error) {
	agent, err := bots.Parse(g, bots.Own(text))
	if err != nil {
		return player{}, err
	}
	p := player{Name: name}
	spec, weights, data, err := agent.Portable()
	if errors.Is(err, bots.ErrUntrusted) {
		return p, fmt.Errorf("agent %.80q: it is a program of this machine, which workers do not have: "+
			"play this match without --cluster", text)
	} else if err != nil {
		return p, err
	}
	if p.Spec = spec; weights != "" {
		*files = append(*files, data)
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
			return p, fmt.Errorf("agent %.80q: %w", text, err)
		}
	}
	return p, nil
}

// facts are what a worker must have like the process of the match.
func facts(g *env.Game) (map[string]string, error) {
	e := bots.Of(g)
	var file []byte
	if e.Learned != nil {
		var err error
		if file, err = fs.ReadFile(e.Learned.Files, e.Learned.File); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	var hand []float32
	if e.Baseline != nil {
		hand = e.Baseline.Weights
	}
	features := "none"
	if f := bots.Features(g); f != nil {
		features = fleet.Hash(f.Names)
	}
	return map[string]string{
		"rules of " + g.Name + " in version":       strconv.Itoa(g.Rules),
		"features of " + g.Name + " with the hash": features,
		"weights of " + g.Name + " with the hash":  fleet.Hash(hand, file),
	}, nil
}

// selfTestSteps are enough for every player of every seat to have moved.
const selfTestSteps = 6

// selfTest plays the first steps of a unit's games and returns the SHA-256 of moves and evaluations.
func selfTest(ctx context.Context, m *match.Match) (string, error) {
	short, u := *m, match.Unit{Seed: 0x73656c66}
	short.Steps, short.Cap = selfTestSteps, 0
	lineup := make([]match.Entrant, m.GameSeats())
	for k := range lineup {
		lineup[k] = match.Entrant{Player: min(k, 1), Stream: uint64(k)}
	}
	u.Games = append(u.Games, lineup)
	if len(lineup) == 1 && len(m.Players) == 2 {
		u.Games = append(u.Games, []match.Entrant{{Player: 1}})
	}
	records, err := short.PlayUnit(ctx, u)
	if err != nil {
		return "", fmt.Errorf("self-test: %w", err)
	}
	return fleet.Hash(records), nil
}

// Open is the fleet.Kind by which workers play matches.
func Open(ctx context.Context, r *fleet.Run, get fleet.Get) (fleet.NewPlayer, error) {
	var s spec
	if err := json.Unmarshal(r.Spec, &s); err != nil {
		return nil, fmt.Errorf("match %s: %w", r.ID, err)
	}
	g, err := games.Recorded(r.Game, s.Table)
	if err != nil {
		return nil, fmt.Errorf("match %s: %w: run the same program", r.ID, err)
	}
	ours, err := facts(g)
	if err != nil {
		return nil, err
	}
	if err := r.Agree(ours); err != nil {
		return nil, err
	}
	if len(s.Players) < 1 || len(s.Players) > 2 {
		return nil, fmt.Errorf("match %s: %d players, want 1 or 2", r.ID, len(s.Players))
	}
	m := &match.Match{Rules: g, Seats: s.Seats, Cap: s.Cap, Steps: s.Steps}
	weights := func(name string) ([]byte, error) { return get(ctx, strings.TrimPrefix(name, bots.ContentPrefix)) }
	for _, p := range s.Players {
		f, err := bots.New(g, bots.Foreign(p.Spec, weights))
		if err != nil {
			return nil, fmt.Errorf("match %s: %w", r.ID, err)
		}
		m.Players = append(m.Players, match.Player{Name: p.Name, New: f})
	}
	check, err := selfTest(ctx, m)
	if err == nil {
		err = r.AgreeSelfTest("the match", s.Check, check)
	}
	return func() (fleet.Player, error) { return unitPlayer(m), nil }, err
}

func unitPlayer(m *match.Match) fleet.Player {
	return func(ctx context.Context, text json.RawMessage) (*fleet.Result, error) {
		var u match.Unit
		if err := json.Unmarshal(text, &u); err != nil {
			return nil, err
		}
		records, err := m.PlayUnit(ctx, u)
		r := &fleet.Result{Data: fleet.JSON(records), Games: len(records)}
		for _, g := range records {
			r.Moves += len(g.Choices)
		}
		return r, err
	}
}
