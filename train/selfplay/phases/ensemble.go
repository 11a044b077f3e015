package phases

import (
	"errors"
	"fmt"

	"blockyard/agents/mlp"
	"blockyard/env"
	"blockyard/train/network"
	"blockyard/train/selfplay"
)

// An ensemble is several nets that are trained on the results of games one after the other, each from random weights of
// its own and on games that it plays itself. Their errors differ, so that their mean is stronger than each of them. It
// is one net, with all their hidden units. The backup begins with it.

// A member is what is particular to one net of an ensemble. The zero value is that of the first, or of no ensemble.
type member struct {
	before []*mlp.Net // the nets before it
	since  int        // the iterations before its first

	of, mean *mlp.Net // see Net: mean is that of before and of
}

const (
	memberStream = 0x656e73656d
	memberPrefix = "member%d."
)

func (c *Config) members() int { return max(1, c.Ensemble) }

// part is the part of the budget in which net k of the results is trained.
func (c *Config) part(k int) (since, until float64) {
	n := float64(c.members())
	return c.Results * float64(k) / n, c.Results * float64(k+1) / n
}

// next returns l, or the learner of the next net of the ensemble if its part has begun.
func (l *lambdaLearner) next() (*lambdaLearner, error) {
	c, r, k := l.config, l.run, len(l.before)+1
	if since, _ := c.part(k); k >= c.members() || r.Progress() < since {
		return l, nil
	}
	t, err := network.New(network.Config{
		Sizes: r.Options.Sizes(r.Game), Batch: 1, Seed: env.Derive(c.Seed^memberStream, uint64(k)),
	})
	if err != nil {
		return nil, err
	}
	random, err := t.Net()
	if err = errors.Join(err, t.Close()); err != nil {
		return nil, err
	}
	after, err := newLambda(r, c, random)
	if err != nil {
		return nil, err
	}
	after.before, after.since = append(l.before[:k-1:k-1], l.Mean), r.Counts.Iterations
	return after, l.Close()
}

// Net implements selfplay.Learner: the mean of the nets of the ensemble so far.
func (l *lambdaLearner) Net() *mlp.Net {
	if len(l.before) == 0 {
		return l.Mean
	}
	if l.of != l.Mean {
		mean, err := mlp.Mean(append(l.before[:len(l.before):len(l.before)], l.Mean))
		if err != nil { // Check allows nets of one hidden layer only
			return l.Mean
		}
		l.of, l.mean = l.Mean, mean
	}
	return l.mean
}

// save adds what restore needs.
func (m *member) save(s *selfplay.State) {
	if len(m.before) == 0 {
		return
	}
	for k, n := range m.before {
		s.AddNet(fmt.Sprintf(memberPrefix, k), n)
	}
	s.Member = &selfplay.MemberState{Before: len(m.before), Since: m.since}
}

func (m *member) restore(r *selfplay.Run, s *selfplay.State) error {
	if s.Member == nil {
		return nil
	}
	if n := s.Member.Before; n < 0 || n > 16 || s.Member.Since < 0 || s.Member.Since > r.Counts.Iterations {
		return fmt.Errorf("%d nets of an ensemble before iteration %d: want up to 16, and at most %d iterations",
			n, s.Member.Since, r.Counts.Iterations)
	}
	m.since = s.Member.Since
	for k := range s.Member.Before {
		n, err := s.Net(fmt.Sprintf(memberPrefix, k), r.Options.Sizes(r.Game))
		if err != nil {
			return err
		}
		m.before = append(m.before, n)
	}
	return nil
}
