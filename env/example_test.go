package env_test

import (
	"fmt"
	"log"

	"blockyard/env"
	"blockyard/env/games"
)

// A game from its reset to its end, with the first legal action of each seat.
func Example() {
	g, err := games.Lookup("tetrisduel")
	if err != nil {
		log.Fatal(err)
	}
	s := g.New(g.MinSeats)
	s.Reset(7)
	plies := 0
	for s.Acting() != 0 {
		moves := env.NoMoves
		for set := s.Acting(); set != 0; set = set.Rest() {
			seat := set.First()
			moves[seat] = s.Legal(seat, nil)[0]
			plies++
		}
		s.Step(moves)
	}
	fmt.Println(plies, "plies, scores", s.Score(0), s.Score(1), "results", s.Result(0), s.Result(1))
	// Output: 42 plies, scores 0 1 results -1 1
}

// What a seat sees: planes of cells and a list of numbers, each with a name.
func ExampleState_observe() {
	g, _ := games.Lookup("wintetris")
	s := g.New(1)
	s.Reset(7)
	planes, globals := make([]uint8, g.Planes.Len()), make([]float32, g.Globals())
	s.Observe(0, planes, globals)
	fmt.Println(g.Planes, g.PlaneNames, len(planes))
	for k, v := range globals {
		if v != 0 {
			fmt.Println(g.GlobalNames[k], v)
		}
	}
	// Output:
	// {1 20 10} [filled] 200
	// piece_J 1
	// next_S 1
	// level 1
}

// Moves from an untrusted source go through Apply, which says what is wrong with them.
func ExampleApply() {
	g, _ := games.Lookup("blocking")
	s := g.New(2)
	fmt.Println(env.Apply(g, s, env.Alone(1, 0)))
	a, err := g.Parse("A00 at 0,0")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(env.Apply(g, s, env.Alone(0, a)))
	// Output:
	// blocking: seat 1 is not to move: illegal action: A00 at 0,0
	// <nil>
}

// One-ply lookahead: try each legal action on a copy and compare the afterstates.
func ExampleAfter() {
	g, _ := games.Lookup("dropblox")
	s, after := g.New(1), g.New(1)
	s.Reset(7)
	best, bestScore := env.None, -1
	for _, a := range s.Legal(0, nil) {
		env.View(after, s, 0, 1) // hides what the seat may not know
		env.After(after, 0, a)
		if v := after.Score(0); v > bestScore {
			best, bestScore = a, v
		}
	}
	fmt.Println(g.Text(best), bestScore)
	// Output: 30 0 0 0
}
