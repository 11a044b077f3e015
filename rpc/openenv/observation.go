package openenv

import (
	"blockyard/env"
	"blockyard/env/games"
)

// A result is what reset and step return.
type result struct {
	Observation observation `json:"observation"`
	Reward      *float64    `json:"reward" jsonschema:"null after a reset."`
	Done        bool        `json:"done" jsonschema:"The episode is over."`
}

// An observation is what the client sees.
type observation struct {
	Text       string         `json:"text" jsonschema:"The position in plain text."`
	LegalMoves []string       `json:"legal_moves" jsonschema:"What may be played; empty when it is over, or if hidden."`
	Error      string         `json:"error" jsonschema:"Why the last move was not played; empty if it was."`
	Seat       int            `json:"seat" jsonschema:"The seat of the agent, from 0."`
	Scores     []int          `json:"scores" jsonschema:"Points by seat."`
	Result     float64        `json:"result" jsonschema:"-1 (lost) to 1 (won) once the game is over, 0 before."`
	Truncated  bool           `json:"truncated" jsonschema:"The limit of steps has ended the episode, not the rules."`
	Metadata   map[string]any `json:"metadata" jsonschema:"The episode_id."`
}

// An observed is an observation with the rest of its result, as the standard's schema of observations has them.
type observed struct {
	observation
	Reward *float64 `json:"reward,omitempty" jsonschema:"null after a reset."`
	Done   bool     `json:"done,omitempty" jsonschema:"The episode is over."`
}

// result describes the position after a reward. wrong says why the last move was not played. The caller holds p.mu.
func (p *session) result(reward *float64, wrong string) *result {
	s, turn := p.games.Env.State(0), "It is your turn."
	if p.games.Env.Ended(0) {
		turn = "The game is over."
	}
	o := observation{
		Text: p.describe(s, turn), LegalMoves: []string{}, Error: wrong, Seat: p.Seat,
		Scores: make([]int, p.srv.c.Seats), Result: float64(s.Result(p.Seat)), Truncated: p.truncated,
		Metadata: map[string]any{"episode_id": p.id},
	}
	if !p.srv.c.HideLegal {
		o.LegalMoves = p.moves()
	}
	for k := range o.Scores {
		o.Scores[k] = s.Score(k)
	}
	return &result{o, reward, p.Done}
}

// current is the position without a reward. It begins an episode if there is none.
func (p *session) current() (*result, error) {
	if err := p.lockBegun(); err != nil {
		return nil, err
	}
	defer p.mu.Unlock()
	return p.result(nil, ""), nil
}

// moves lists what may be played now. The caller holds p.mu.
func (p *session) moves() []string {
	if p.Done {
		return []string{}
	}
	p.legal = p.games.Env.Legal(0, 0, p.legal[:0])
	out := make([]string, len(p.legal))
	for k, a := range p.legal {
		out[k] = p.text(a)
	}
	return out
}

// frame draws a position as the client sees it.
func (p *session) frame(s env.State) *env.Frame {
	var f env.Frame
	s.Show(&f)
	if p.names != nil {
		p.names.Redraw(&f)
	}
	return &f
}

// describe is a position in plain text. turn says whose turn it is.
func (p *session) describe(s env.State, turn string) string {
	return games.Describe(p.srv.c.Game, p.frame(s), p.srv.c.Seats, p.Seat, turn)
}

// A state is what the standard calls the state of an episode: facts about it that are not for the agent. A reset with
// its seed, seat, rules, moves and reseeds begins the same episode again.
type state struct {
	EpisodeID  *string `json:"episode_id" jsonschema:"null before the first reset."`
	StepCount  int     `json:"step_count" jsonschema:"Moves of the agent in this episode, illegal ones included."`
	Game       string  `json:"game" jsonschema:"The name of the environment."`
	Opponents  string  `json:"opponents" jsonschema:"What plays the other seats."`
	Seats      int     `json:"seats" jsonschema:"The number of players."`
	Seed       *uint64 `json:"seed" jsonschema:"The seed of the episode."`
	Rules      string  `json:"rules" jsonschema:"relabelled if the episode has other names."`
	RewardKind string  `json:"reward_kind" jsonschema:"What rewards are: result or score."`
	Penalty    float64 `json:"illegal_penalty" jsonschema:"What an illegal move costs."`
	StepLimit  int     `json:"step_limit" jsonschema:"Moves after which an episode is truncated; 0 for never."`
	StepReward float64 `json:"step_reward" jsonschema:"The weight of the potential whose change is a part of rewards."`
	episode
}

func (p *session) state() (*state, error) {
	if err := p.lock(); err != nil {
		return nil, err
	}
	defer p.mu.Unlock()
	if p.id == "" {
		return p.srv.stateOf(newEpisode(p.srv.c.Seat)), nil
	}
	out, id := p.srv.stateOf(p.shared()), p.id
	out.EpisodeID, out.Seed = &id, &out.seed
	return out, nil
}

// stateOf is the state of an episode, without its name and seed.
func (s *Server) stateOf(e episode) *state {
	return &state{StepCount: len(e.Moves), Game: s.c.Game.ID, Opponents: s.c.Opponents, Seats: s.c.Seats,
		Rules: e.names.Kind(), RewardKind: s.c.Reward.String(), Penalty: s.c.Penalty, StepLimit: s.c.StepLimit,
		StepReward: s.c.StepReward, episode: e}
}
