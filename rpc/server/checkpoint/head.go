package checkpoint

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"blockyard/env/vec"
)

// Bounds on the opponents of a handle.
const (
	MostChoices   = 256            // of one seat at the same time
	MostOpponents = vec.NoOpponent // in its lifetime
	MostSpec      = 4096           // bytes of a spec
)

// A Head is what a checkpoint says of all its games together, as JSON. Games go on only in a handle
// that was opened with the same options, apart from the opponents and from those that choose what the client sees.
type Head struct {
	Format    int          `json:"format"`
	Game      string       `json:"game"`
	Rules     int          `json:"rules"`
	Seats     int          `json:"seats"`
	Players   []int        `json:"players"`
	Rows      string       `json:"rows"`
	Autoreset string       `json:"autoreset"`
	Reward    string       `json:"reward"`
	Illegal   string       `json:"illegal"`
	MaxSteps  int          `json:"max_episode_steps"`
	Opponents []string     `json:"opponents"` // specs, by number
	Mixtures  [][]Weighted `json:"mixtures"`  // by seat, of episodes to come
	Policy    string       `json:"policy"`    // of rollouts, "" for none
}

// A Weighted is an opponent's number in a mixture and its weight.
type Weighted struct {
	Number uint16  `json:"number"`
	Weight float64 `json:"weight"`
}

// Versions of checkpoints.
const (
	Format = 2 // that is written
	oldest = 1 // that is read
)

// ReadHead reads a head, which must be like want but for the opponents and the policy.
func ReadHead(b []byte, want *Head) (*Head, error) {
	version := struct {
		Format int `json:"format"`
	}{}
	if err := json.Unmarshal(b, &version); err != nil {
		return nil, fmt.Errorf("its head is no JSON: %w", err)
	}
	if version.Format < oldest || version.Format > Format {
		return nil, otherVersion(version.Format)
	}
	head := new(Head)
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(head); err != nil {
		return nil, fmt.Errorf("its head: %w", err)
	}
	for _, c := range []struct {
		name       string
		have, want any
	}{
		{"game", head.Game, want.Game}, {"rules version", head.Rules, want.Rules}, {"seats", head.Seats, want.Seats},
		{"driven seats", fmt.Sprint(head.Players), fmt.Sprint(want.Players)}, {"rows", head.Rows, want.Rows},
		{"autoreset mode", head.Autoreset, want.Autoreset}, {"reward", head.Reward, want.Reward},
		{"illegal", head.Illegal, want.Illegal}, {"max_episode_steps", head.MaxSteps, want.MaxSteps},
	} {
		if c.have != c.want {
			return nil, fmt.Errorf("%s is %v in the checkpoint and %v in this environment: they must be equal",
				c.name, c.have, c.want)
		}
	}
	return head, head.checkOpponents(want.Players)
}

// otherVersion is the error for a checkpoint of another version.
func otherVersion(version int) error {
	return fmt.Errorf("it has version %d of the format of checkpoints, this server reads versions %d to %d",
		version, oldest, Format)
}

// checkOpponents wants different specs, and a mixture of them for every seat that is not driven.
func (head *Head) checkOpponents(driven []int) error {
	if n := len(head.Opponents); n > MostOpponents {
		return fmt.Errorf("its head has %d opponents, want up to %d", n, MostOpponents)
	}
	seen := map[string]bool{}
	for k, spec := range head.Opponents {
		if len(spec) > MostSpec || seen[spec] {
			return fmt.Errorf("its head has opponent %d, %.40q, twice or with more than %d bytes", k, spec, MostSpec)
		}
		seen[spec] = true
	}
	if len(head.Mixtures) != head.Seats {
		return fmt.Errorf("its head has mixtures for %d seats, want %d", len(head.Mixtures), head.Seats)
	}
	for seat, m := range head.Mixtures {
		if none := len(m) == 0; none != slices.Contains(driven, seat) || len(m) > MostChoices {
			return fmt.Errorf("its head has %d opponents for seat %d, want up to %d, and none for a driven seat",
				len(m), seat, MostChoices)
		}
		for _, c := range m {
			if int(c.Number) >= len(head.Opponents) {
				return fmt.Errorf("its head has opponent %d for seat %d, want less than %d", c.Number, seat, len(head.Opponents))
			}
		}
	}
	return nil
}
