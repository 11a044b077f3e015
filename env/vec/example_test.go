package vec_test

import (
	"context"
	"fmt"
	"log"

	"blockyard/env"
	"blockyard/env/blockbattle"
	"blockyard/env/vec"
	"blockyard/env/wintetris"
)

// A rollout with random actions. One Batch is enough: each step overwrites it.
func Example() {
	e, err := vec.New(wintetris.Game, vec.Config{Envs: 8, Reward: vec.RewardScore})
	if err != nil {
		log.Fatal(err)
	}
	defer e.Close()
	out, err := e.NewBatch()
	if err != nil {
		log.Fatal(err)
	}
	if err := e.Reset(vec.From(1), nil, out); err != nil {
		log.Fatal(err)
	}
	actions := make([]env.Action, 8*e.Rows())
	ended := 0
	for range 200 {
		// Replace Sample by a policy that reads out.Planes, out.Globals and out.Legal.
		if err := e.Sample(actions); err != nil {
			log.Fatal(err)
		}
		if err := e.Step(actions, out); err != nil {
			log.Fatal(err)
		}
		for _, t := range out.Terminated {
			ended += int(t)
		}
	}
	fmt.Println("observation bytes:", len(out.Planes), "episodes:", ended)
	// Output: observation bytes: 1600 episodes: 84
}

// firstLegal is an agent that plays the legal action with the lowest id.
type firstLegal struct{}

func (firstLegal) Act(_ context.Context, s env.State, seat int) (env.Action, error) {
	return s.Legal(seat, nil)[0], nil
}

// The caller drives seat 0; an agent plays seat 1 inside the environments.
func ExampleNew_opponent() {
	first := func(seed uint64) (env.Agent, error) { return firstLegal{}, nil }
	e, err := vec.New(blockbattle.Game, vec.Config{
		Envs:      2,
		Agents:    []vec.AgentFactory{nil, first},
		Autoreset: vec.SameStep,
	})
	if err != nil {
		log.Fatal(err)
	}
	defer e.Close()
	fmt.Println("seats:", e.Config().Seats, "rows per environment:", e.Rows())
	// Output: seats: 2 rows per environment: 1
}
