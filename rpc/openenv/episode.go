package openenv

import (
	"cmp"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"slices"
	"strings"
	"time"

	"blockyard/datasets/record"
	"blockyard/env"
	"blockyard/env/vec"
	"blockyard/rpc/openenv/relabel"
	"blockyard/rpc/session/batch"
)

// An episode is a game from its reset on, as far as a session knows it.
type episode struct {
	Seat         int       `json:"seat" jsonschema:"The seat of the agent, from 0."`
	Moves        []string  `json:"moves" jsonschema:"Moves of the agent, as it sent them, at most 80 bytes of each."`
	Rewards      []float64 `json:"rewards" jsonschema:"The reward of each move."`
	Reseeds      []reseed  `json:"reseeds" jsonschema:"Where the future was changed, as in a branch."`
	IllegalMoves int       `json:"illegal_moves" jsonschema:"Illegal moves of the agent in this episode."`
	TotalReward  float64   `json:"total_reward" jsonschema:"The sum of the episode's rewards."`
	Done         bool      `json:"done" jsonschema:"The episode is over."`

	seed      uint64
	worth     *float64       // the potential of the position; nil if nobody has asked for it
	names     *relabel.Names // nil for those of the game
	truncated bool
}

func newEpisode(seat int) episode {
	return episode{Seat: seat, Moves: []string{}, Rewards: []float64{}, Reseeds: []reseed{}}
}

// shared is a copy of e. Both may go on: what they share does not change.
func (e *episode) shared() episode {
	out := *e
	out.Moves, out.Rewards, out.Reseeds = slices.Clip(e.Moves), slices.Clip(e.Rewards), slices.Clip(e.Reseeds)
	return out
}

// A reseed is a change of the future.
type reseed struct {
	Turn int    `json:"turn" jsonschema:"After so many moves."`
	Seed uint64 `json:"seed" jsonschema:"What is hidden is drawn from it."`
}

const (
	turnBytes  = 64 // of memory that a turn takes, its move included
	turnsAhead = 64 // that memory is accounted for at a time
	mostText   = 80 // no legal move is longer
)

// resetOptions are the arguments of reset. As the standard says, unknown ones are ignored.
type resetOptions struct {
	Seed      *uint64  `json:"seed,omitempty" jsonschema:"The same seed and moves give the same episode."`
	EpisodeID string   `json:"episode_id,omitempty" jsonschema:"The episode; the one without a name by default."`
	Seat      *int     `json:"seat,omitempty" jsonschema:"The seat of the agent, from 0."`
	Rules     string   `json:"rules,omitempty" jsonschema:"relabelled: coordinates, pieces and moves have other names."`
	Moves     []string `json:"moves,omitempty" jsonschema:"Moves to play again, as the state of an episode has them."`
	Reseeds   []reseed `json:"reseeds,omitempty" jsonschema:"Changes of the future among them, as that state has them."`
	State     string   `json:"state,omitempty" jsonschema:"Begin with a copy of this: a token of save."`
	Reseed    *uint64  `json:"reseed,omitempty" jsonschema:"With state: draw what is hidden there again, from this seed."`
	// The standard's name for a position that a validator sets.
	Injected json.RawMessage `json:"injected_state,omitempty" jsonschema:"What to reset with, such as an episode's state."`
}

// reset begins an episode and returns its first observation.
func (p *session) reset(o resetOptions) (*result, error) {
	if len(o.Injected) > 0 && string(o.Injected) != "null" {
		injected, err := parseReset(o.Injected)
		if err != nil {
			return nil, err
		}
		injected.EpisodeID, injected.Injected = o.EpisodeID, nil
		o = injected
	}
	if o.State != "" {
		return p.resume(o)
	}
	if err := p.lock(); err != nil {
		return nil, err
	}
	defer p.mu.Unlock()
	return p.begin(o)
}

// begin is reset for a caller that holds p.mu.
func (p *session) begin(o resetOptions) (*result, error) {
	e := newEpisode(*cmp.Or(o.Seat, &p.srv.c.Seat))
	e.seed = *cmp.Or(o.Seed, new(mathrand.Uint64N(1<<53))) // a whole number in every JSON reader
	if err := p.srv.c.checkSeat(e.Seat); err != nil {
		return nil, invalid(err)
	}
	if len(o.EpisodeID) > mostID {
		return nil, invalid(fmt.Errorf("episode_id has %d bytes, want at most %d", len(o.EpisodeID), mostID))
	}
	switch o.Rules {
	case "":
	case relabel.Kind:
		e.names = relabel.New(p.srv.c.Game, e.seed)
	default:
		return nil, invalid(fmt.Errorf("rules is %.40q, want relabelled or none", o.Rules))
	}
	if err := p.sit(e.Seat); err != nil {
		return nil, err
	}
	seeds := vec.From(e.seed)
	if err := p.games.Reset(&seeds, nil, p.games.Own); err != nil {
		return nil, p.unlessClosed(err)
	}
	if err := p.become(e, cmp.Or(o.EpisodeID, rand.Text())); err != nil {
		return nil, err
	}
	return p.again(o.Moves, o.Reseeds)
}

// become makes e the episode of the session, and accounts for its turns. The caller holds p.mu.
func (p *session) become(e episode, id string) error {
	if err := p.reserve(len(e.Moves)); err != nil {
		return err
	}
	p.episode, p.id = e, id
	return nil
}

// again plays moves that were played before, with the same changes of the future, and returns the last result.
func (p *session) again(moves []string, reseeds []reseed) (*result, error) {
	out := p.result(nil, "")
	for k := 0; ; k++ {
		for len(reseeds) > 0 && reseeds[0].Turn == k {
			if err := p.reseed(reseeds[0].Seed); err != nil {
				return nil, err
			}
			reseeds = reseeds[1:]
		}
		if k == len(moves) {
			break
		}
		if p.Done {
			return nil, invalid(fmt.Errorf("moves[%d]: the episode is over before it", k))
		}
		var err error
		if out, err = p.play(moves[k]); err != nil {
			return nil, err
		}
	}
	if len(reseeds) > 0 {
		return nil, invalid(fmt.Errorf("reseeds: turn %d, want 0 to %d, in ascending order", reseeds[0].Turn, len(moves)))
	}
	return out, nil
}

// reseed draws again from seed what the client cannot know. The caller holds p.mu.
func (p *session) reseed(seed uint64) error {
	if p.Done {
		return nil
	}
	if err := p.games.Env.Reseed(0, seed); err != nil {
		return p.unlessClosed(err)
	}
	p.Reseeds = append(p.Reseeds, reseed{len(p.Moves), seed})
	return nil
}

// unlessClosed is the error of a game, unless close has interrupted it.
func (p *session) unlessClosed(err error) error {
	if err != nil && p.ctx.Err() != nil {
		return errClosed
	}
	return err
}

// sit opens a game in which the client has a seat, unless that is the one it has. The caller holds p.mu.
func (p *session) sit(seat int) error {
	if p.games != nil && p.Seat == seat {
		return nil
	}
	if err := p.stand(); err != nil {
		return err
	}
	c := &p.srv.c
	names, others := make([]string, c.Seats), map[int][]batch.Choice{}
	for k := range names {
		if k != seat {
			others[k] = []batch.Choice{{Spec: c.Opponents, Weight: 1}}
		}
	}
	names[seat] = cmp.Or(p.at.token.Name(), "agent")
	games, err := batch.New(c.Game, vec.Config{Envs: 1, Seats: c.Seats, Autoreset: vec.Disabled, Reward: c.Reward,
		Workers: 1, Context: p.ctx}, batch.Options{Fields: []string{}, Seats: others}, &c.agents, c.Ledger.Tab(p.at.token))
	if err != nil {
		return err
	}
	if c.Records != nil {
		if err := games.RecordTo(names, p.record); err != nil {
			return errors.Join(err, games.Close())
		}
	}
	p.games, p.Seat = games, seat
	return nil
}

// record writes an episode that is over to the file, which is on the disk soon after. The caller holds p.mu.
func (p *session) record(rec *record.Record) {
	rec.Meta = map[string]string{"episode_id": p.id}
	s := p.srv
	if err := s.c.Records.Write(rec); err != nil {
		s.c.Log.Error("record", "episode", p.id, "err", err)
	}
	if s.syncing.CompareAndSwap(false, true) {
		time.AfterFunc(time.Second, func() {
			s.syncing.Store(false)
			if err := s.c.Records.Sync(); err != nil {
				s.c.Log.Error("record", "err", err)
			}
		})
	}
}

// stand closes the game, if there is one, as before the first reset. The caller holds p.mu.
func (p *session) stand() error {
	games := p.games
	if games == nil {
		return nil
	}
	p.games, p.id = nil, ""
	return games.Close()
}

// step plays a move for a client that has begun an episode.
func (p *session) step(move string) (*result, error) {
	if err := p.lock(); err != nil {
		return nil, err
	}
	defer p.mu.Unlock()
	if p.id == "" {
		return nil, errReset
	}
	return p.play(move)
}

// play plays a move. An illegal one changes nothing but the counts and earns the penalty. The caller holds p.mu.
func (p *session) play(move string) (*result, error) {
	if p.Done {
		return nil, errDone
	}
	if err := p.reserve(len(p.Moves) + 1); err != nil {
		return nil, err
	}
	move = strings.TrimSpace(move)
	reward, wrong := -p.srv.c.Penalty, ""
	if a, err := p.choose(move); err != nil {
		wrong = err.Error()
		p.IllegalMoves++
	} else {
		before, err := p.potential()
		if err != nil {
			return nil, err
		}
		began := time.Now()
		p.games.Actions[0] = a
		if err := p.games.Step(p.games.Own); err != nil {
			return nil, p.unlessClosed(err)
		}
		p.games.Stepped(1)
		p.tab.Totals.Took(time.Since(began))
		reward, p.Done, p.worth = float64(p.games.Reward(0, p.Seat)), len(p.games.Ended) > 0, nil
		after, err := p.potential()
		if err != nil {
			return nil, err
		}
		reward += after - before
	}
	p.Moves = append(p.Moves, strings.Clone(strings.ToValidUTF8(move[:min(len(move), mostText)], "?")))
	p.Rewards = append(p.Rewards, reward)
	p.TotalReward += reward
	if limit := p.srv.c.StepLimit; limit > 0 && len(p.Moves) >= limit && !p.Done {
		p.Done, p.truncated = true, true
		p.games.CutRecords()
	}
	return p.result(&reward, wrong), nil
}

// potential is what the position is worth to the client: the value of its best move to the agent learned, at most
// mostValue, as a part of that, times Config.StepReward. It is 0 when the game is over, so that the changes of an
// episode add up to the same whatever is played, and no policy gains by them that would lose without (Ng, Harada and
// Russell 1999, with a discount of 1). The caller holds p.mu.
func (p *session) potential() (float64, error) {
	weight := p.srv.c.StepReward
	if weight == 0 || p.Done {
		return 0, nil
	}
	if p.worth == nil {
		values, err := p.srv.c.Values(p.ctx, p.view(), p.Seat)
		if err != nil {
			return 0, p.unlessClosed(err)
		}
		best := -mostValue
		for _, v := range values {
			best = max(best, float64(v))
		}
		p.worth = new(weight * min(best/mostValue, 1))
	}
	return *p.worth, nil
}

const mostValue = 8.0 // the networks' values of positions of all games are mostly from -8 to 8

// view is a copy of the position, in which what the client cannot know is drawn again.
func (p *session) view() env.State {
	view := p.srv.c.Game.New(p.srv.c.Seats)
	env.View(view, p.games.Env.State(0), p.Seat, env.Derive(p.seed, uint64(len(p.Moves))))
	return view
}

// choose returns the action of a text, or an error that says why it is not legal.
func (p *session) choose(move string) (env.Action, error) {
	p.legal = p.games.Env.Legal(0, 0, p.legal[:0])
	g := p.srv.c.Game
	how := fmt.Sprintf("choose one of the %d legal_moves, such as %q", len(p.legal), p.text(p.legal[len(p.legal)/2]))
	if p.srv.c.HideLegal {
		how = "the tool legal_moves lists those that are"
	}
	a, err := env.None, error(nil)
	if p.names == nil {
		a, err = g.Parse(move)
	} else if k := slices.IndexFunc(p.legal, func(a env.Action) bool { return p.text(a) == move }); k >= 0 {
		a = p.legal[k]
	}
	if err != nil {
		return 0, fmt.Errorf("%.60q is no move of %s: %s", move, g.Name, how)
	}
	if _, ok := slices.BinarySearch(p.legal, a); !ok {
		return 0, fmt.Errorf("%.60q is not legal here: %s", move, how)
	}
	return a, nil
}

// text is an action as the client reads and writes it.
func (p *session) text(a env.Action) string {
	if p.names != nil {
		return p.names.Move(p.srv.text(a))
	}
	return p.srv.text(a)
}
