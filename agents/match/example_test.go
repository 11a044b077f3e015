package match_test

import (
	"context"
	"fmt"

	"blockyard/agents/bots/blockbattlebot"
	"blockyard/agents/match"
	"blockyard/agents/search"
	"blockyard/datasets/record"
	"blockyard/env"
	"blockyard/env/blockbattle"
)

var (
	random = match.Player{Name: "random", New: func(seed uint64) (env.Agent, error) {
		return search.NewRandom(seed), nil
	}}
	greedy = match.Player{Name: "greedy", New: func(uint64) (env.Agent, error) {
		return search.NewGreedy(blockbattle.Game, blockbattlebot.NewHand()), nil
	}}
)

// One game between two agents, as a record that can be replayed.
func ExamplePlay() {
	rec, err := match.Play(context.Background(), match.Game{
		Rules:  blockbattle.Game,
		Seed:   1,
		Names:  []string{"greedy", "random"},
		Agents: []env.Agent{search.NewGreedy(blockbattle.Game, blockbattlebot.NewHand()), search.NewRandom(1)},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("results", rec.Results, "replays:", record.Check(blockbattle.Game, rec) == nil)
	// Output: results [1 -1] replays: true
}

// Which of two players is stronger, and how certain is that? A sequential test stops the match when it has decided.
func ExampleMatch_Play() {
	m := match.Match{
		Rules: blockbattle.Game, Players: []match.Player{greedy, random}, Units: 1000, Seed: 1, Workers: 2,
		SPRT: &match.SPRT{Elo0: 0, Elo1: 50, Alpha: 0.05, Beta: 0.05},
	}
	res, err := m.Play(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(match.Versus{Report: res})
	// Output:
	// blockbattle: greedy against random, seed 1
	// games   46: 46 wins, 0 draws, 0 losses
	// pairs   0 lost, 0 at ½, 0 at 1, 0 at 1½, 23 won
	// score   100.00 %, 95 % interval 85.18 to 100.00
	// Elo     +784, 95 % interval +304 to +784
	// SPRT    Elo 0 against 50: LLR +3.07 in [-2.94, 2.94]: H1
}
