package match

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"blockyard/datasets/record"
	"blockyard/env"
)

// A Unit is some games that are played with the same seed.
type Unit struct {
	Index int         `json:"index"` // in the match
	Seed  uint64      `json:"seed"`
	Games [][]Entrant `json:"games"`           // per game, who has each seat
	Start []byte      `json:"start,omitempty"` // see Game.Start
}

// An Entrant is the player of one seat in one game of a unit.
type Entrant struct {
	Player int    `json:"player,omitempty"` // in Match.Players
	Stream uint64 `json:"stream"`           // tells apart the seeds of the unit's agents
}

// Name is the name of an entrant in records.
func (m Match) Name(e Entrant) string { return m.Players[e.Player].Name }

// GameSeats is the number of seats of every game.
func (m Match) GameSeats() int {
	if m.Rules.MaxSeats == 1 {
		return max(1, m.Seats)
	}
	return max(2, m.Seats)
}

// unit returns a unit of the match, but for its first position.
func (m Match) unit(i int) Unit {
	u := Unit{Index: i, Seed: env.Derive(m.Seed, uint64(i))}
	switch n := m.GameSeats(); n {
	case 1:
		for p := range m.Players {
			u.Games = append(u.Games, []Entrant{{Player: p}})
		}
	case 2:
		u.Games = [][]Entrant{pairing(0, 1, 0), pairing(1, 0, 1)}
	default:
		for seat := range n {
			lineup := make([]Entrant, n)
			for k := range lineup {
				lineup[k] = Entrant{1, uint64(seat*n + k)}
			}
			lineup[seat].Player = 0
			u.Games = append(u.Games, lineup)
		}
	}
	return u
}

// pairing is who has each seat in game k of a pair. Each player has a stream of its own in each game.
func pairing(first, second, k int) []Entrant {
	return []Entrant{{first, uint64(3 * k)}, {second, uint64(1 + k)}}
}

// agentStream separates the seeds of agents from those of everything else that follows from a game's seed.
const agentStream = 0x6167656e74

// PlayUnit plays a unit of the match and returns the records of its games.
func (m Match) PlayUnit(ctx context.Context, u Unit) (games []*record.Record, err error) {
	for _, lineup := range u.Games {
		rec, err := m.game(ctx, u, lineup)
		if err != nil {
			return nil, err
		}
		games = append(games, rec)
	}
	return games, nil
}

// game plays one game with new agents and closes those that can be closed.
func (m Match) game(ctx context.Context, u Unit, lineup []Entrant) (rec *record.Record, err error) {
	g := Game{Rules: m.Rules, Seed: u.Seed, Start: u.Start, Enough: m.limit()}
	defer func() { err = errors.Join(err, Close(g.Agents)) }()
	for _, e := range lineup {
		p := m.Players[e.Player]
		a, err := p.New(env.Derive(u.Seed^agentStream, e.Stream))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.Name, err)
		}
		g.Names, g.Agents = append(g.Names, p.Name), append(g.Agents, a)
	}
	return Play(ctx, g)
}

// limit stops one game at Cap or after Steps.
func (m Match) limit() func(env.State) bool {
	steps := 0
	return func(s env.State) bool {
		steps++
		return m.Cap > 0 && s.Score(0) >= m.Cap || m.Steps > 0 && steps > m.Steps
	}
}

// Agents plays games of one or two seats between agents, as those of a Match.
type Agents struct{ Match }

// Play implements Runner. The games of a pair have numbers that follow each other, the first an even one.
func (a *Agents) Play(ctx context.Context, g *Played) (*record.Record, error) {
	seed, err := strconv.ParseUint(g.Seed, 10, 64)
	if err != nil {
		return nil, err
	}
	lineup := []Entrant{{Player: g.Seats[0]}}
	if len(g.Seats) == 2 {
		lineup = pairing(g.Seats[0], g.Seats[1], g.Number%2)
	}
	rec, err := a.game(ctx, Unit{Seed: seed}, lineup)
	if err == nil {
		g.note(rec)
	}
	return rec, err
}
