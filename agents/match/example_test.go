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
	"blockyard/env/wintetris"
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

// Which of two players is stronger, and how certain is that?
func ExampleMatch_Play() {
	m := match.Match{Rules: blockbattle.Game, Players: []match.Player{greedy, random}, Units: 10, Seed: 1, Workers: 2}
	res, err := m.Play(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(match.Versus{Report: res})
	// Output:
	// blockbattle: greedy against random, seed 1
	// games   20: 20 wins, 0 draws, 0 losses
	// pairs   0 lost, 0 at ½, 0 at 1, 0 at 1½, 10 won
	// score   100.00 %, 95 % interval 69.15 to 100.00
	// Elo     +636, 95 % interval +140 to +636
}

// A sequential test stops the match when it has decided.
func ExampleSPRT() {
	m := match.Match{
		Rules: blockbattle.Game, Players: []match.Player{greedy, random}, Units: 1000, Seed: 1, Workers: 2,
		SPRT: &match.SPRT{Elo0: 0, Elo1: 50, Alpha: 0.05, Beta: 0.05},
	}
	res, err := m.Play(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(res.Meetings[0].Verdict, "after", res.Games, "games")
	// Output: H1 after 46 games
}

// One player in a game of one seat.
func ExampleMatch_Play_alone() {
	m := match.Match{Rules: wintetris.Game, Players: []match.Player{random}, Units: 20, Seed: 1, Steps: 100}
	res, err := m.Play(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	stats := res.Players[0]
	fmt.Println(stats.Games-stats.Ends[match.Limit], "of", stats.Games, "games ended, after", stats.Turns, "actions in all")
	// Output: 20 of 20 games ended, after 350 actions in all
}

// The results of parallel work in order.
func ExampleInOrder() {
	square := func(_ context.Context, i int) (int, error) { return i * i, nil }
	for v, err := range match.InOrder(context.Background(), 3, 5, square) {
		fmt.Println(v, err)
	}
	// Output:
	// 0 <nil>
	// 1 <nil>
	// 4 <nil>
	// 9 <nil>
	// 16 <nil>
}
