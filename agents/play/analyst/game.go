package analyst

import (
	"context"

	"blockyard/agents/match"
	"blockyard/agents/search"
	"blockyard/datasets/record/playback"
	"blockyard/datasets/viewer/analysis"
)

// At analyses turn n of a game. agent is a spec, or empty for the default.
func (a *Analyst) At(ctx context.Context, r *playback.Timeline, n int, agent string) (*analysis.Position, error) {
	r.Seek(n)
	return a.Analyse(ctx, analysis.Request{Record: r.Rec, Turn: r.At(), State: r.State(), Moves: r.Moves(), Agent: agent})
}

// Game analyses every turn of a game. done is called after every turn with their number. If ctx ends, the result covers
// the turns before, and there is no error.
func (a *Analyst) Game(ctx context.Context, r *playback.Timeline, agent string, done func(int)) (
	*analysis.Game, error) {
	out := &analysis.Game{Game: r.Rec.Game, Players: []analysis.Player{}, Decisions: []analysis.Decision{}}
	for seat, name := range r.Rec.Agents {
		out.Players = append(out.Players, analysis.Player{Seat: seat, Player: name})
	}
	valued := make([]int, len(out.Players)) // decisions whose losses have a mean
	for n := range r.Len() {
		p, err := a.At(ctx, r, n, agent)
		if ctx.Err() != nil && (err == nil || match.Stopped(err)) {
			out.Stopped = true
			break
		}
		if err != nil {
			return nil, err
		}
		out.Agent, out.Unit, out.Turns = p.Agent, p.Unit, n+1
		for _, s := range p.Seats {
			m := s.Played
			if m == nil || m.Rank == 0 {
				continue
			}
			best := s.Moves[0]
			out.Decisions = append(out.Decisions, analysis.Decision{
				Turn: n, Seat: s.Seat, Player: s.Player, Legal: s.Legal, Rank: m.Rank, Played: m.Text, Best: best.Text,
				Value: m.Value, Loss: m.Loss, Worth: m.Worth, Lost: m.Lost,
			})
			who := &out.Players[s.Seat]
			who.Decisions++
			if m.Loss == 0 {
				who.Best++
			}
			const limit = float64(search.Limit) // beyond it is the end of a game, which no mean can hold
			if max(m.Value, best.Value) <= limit && min(m.Value, best.Value) >= -limit {
				valued[s.Seat]++
				who.MeanLoss += m.Loss
			}
		}
		done(n + 1)
	}
	for seat, n := range valued {
		out.Players[seat].MeanLoss /= float64(max(n, 1))
	}
	return out, nil
}
