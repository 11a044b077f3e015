package openenv

import "encoding/json"

// Replay plays a rollout again: a state of an episode as JSON. Its members but episode_id get the values that they have
// now. before and after are its rewards.
func (s *Server) Replay(rollout map[string]json.RawMessage) (before, after []float64, err error) {
	text, err := json.Marshal(rollout)
	if err != nil {
		return nil, nil, err
	}
	var then state
	o, err := parseReset(text)
	if err == nil {
		err = json.Unmarshal(text, &then)
	}
	if err != nil {
		return nil, nil, err
	}
	o.EpisodeID = ""
	p, err := s.newSession(nil)
	if err != nil {
		return nil, nil, err
	}
	defer p.close()
	if _, err := p.reset(o); err != nil {
		return nil, nil, err
	}
	now, err := p.state()
	if err != nil {
		return nil, nil, err
	}
	now.EpisodeID = then.EpisodeID
	if text, err = json.Marshal(now); err == nil {
		err = json.Unmarshal(text, &rollout)
	}
	return then.Rewards, now.Rewards, err
}
