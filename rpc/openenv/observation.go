package openenv

import (
	"blockyard/env"
	"blockyard/rpc/server"
)

// A result is what reset and step return.
type result struct {
	Observation observation `json:"observation"`
	Reward      *float64    `json:"reward"` // nil after a reset
	Done        bool        `json:"done"`
}

// An observation is what the client sees. schema.go describes it to clients.
type observation struct {
	Text       string         `json:"text"`
	LegalMoves []string       `json:"legal_moves"`
	Error      string         `json:"error"`
	Seat       int            `json:"seat"`
	Scores     []int          `json:"scores"`
	Result     float64        `json:"result"`
	Truncated  bool           `json:"truncated"`
	Metadata   map[string]any `json:"metadata"`
}

// result describes the position after a reward. wrong says why the last move was not played. The caller holds p.mu.
func (p *session) result(reward *float64, wrong string) *result {
	s := p.env.State(0)
	o := observation{
		Text: server.DescribeRows(p.env, 0, false)[0], LegalMoves: []string{}, Error: wrong, Seat: p.seat,
		Scores: make([]int, p.srv.c.Seats), Result: float64(s.Result(p.seat)), Truncated: p.truncated,
		Metadata: map[string]any{"episode_id": p.id},
	}
	for k := range o.Scores {
		o.Scores[k] = s.Score(k)
	}
	if !p.done {
		p.legal = p.env.Legal(0, 0, p.legal[:0])
		o.LegalMoves = make([]string, len(p.legal))
		for k, a := range p.legal {
			o.LegalMoves[k] = p.srv.text(a)
		}
	}
	return &result{o, reward, p.done}
}

// A state is what the standard calls the state of an episode: facts about it that are not for the agent.
type state struct {
	EpisodeID    *string `json:"episode_id"` // nil before the first reset
	StepCount    int     `json:"step_count"`
	Game         string  `json:"game"`
	Opponents    string  `json:"opponents"`
	Seats        int     `json:"seats"`
	Seat         int     `json:"seat"`
	Seed         *uint64 `json:"seed"`
	IllegalMoves int     `json:"illegal_moves"`
	TotalReward  float64 `json:"total_reward"`
	Done         bool    `json:"done"`
}

// state returns the facts of the episode.
func (p *session) state() (*state, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.use(); err != nil {
		return nil, err
	}
	out := p.srv.noState()
	if p.env != nil {
		id, seed := p.id, p.seed
		out.EpisodeID, out.Seed, out.Seat = &id, &seed, p.seat
		out.StepCount, out.IllegalMoves, out.TotalReward, out.Done = p.steps, p.illegal, p.total, p.done
	}
	return out, nil
}

// noState is the state before the first reset.
func (s *Server) noState() *state {
	return &state{Game: s.c.Game.ID, Opponents: s.c.Opponents, Seats: s.c.Seats, Seat: s.c.Seat}
}

// current returns the observation of the episode, without a reward. It begins one if there is none.
func (p *session) current() (*result, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.use(); err != nil {
		return nil, err
	}
	if p.env == nil {
		return p.begin(resetOptions{})
	}
	return p.result(nil, ""), nil
}

// picture draws the boards with letters, as env.Frame does.
func (p *session) picture() (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.use(); err != nil {
		return "", err
	}
	var f env.Frame
	p.env.State(0).Show(&f)
	return f.String(), nil
}
