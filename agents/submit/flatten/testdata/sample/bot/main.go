package main

import (
	"fmt"
	"os"
	"time"

	"sample/moves"
	"sample/rules"
)

const debug = false

const poem = `one

	"two"
}
`

func main() {
	if debug && len(os.Args) > 1 {
		neverReached()
	}
	o := rules.Options{Kept: 4, Second: 5}
	fmt.Println(o.Kept, o.Second, rules.Pair{1, 2}.First)
	if text == "" {
		fmt.Println("no text")
		return
	}
	s := moves.Make(12)
	var shown rules.Shower = s
	fmt.Println(shown.Show(), s.State.Base.Word, s.Names, moves.Word(), text)
	fmt.Println(rules.Most(1, 2), rules.Square(3), rules.Three, rules.Depth, rules.Squares())
	switch x := shown.(type) {
	case rules.Bumper:
		fmt.Println(x.Bump())
	default:
		neverReached() // every Shower is a Bumper
	}
	switch shown.(type) {
	case fmt.Stringer:
		fmt.Println("a Stringer")
	default:
		fmt.Println("no Stringer")
	}
	fmt.Print(poem)
	loops(5)
	fmt.Fprintln(os.Stderr, "done")
}

func neverReached() { fmt.Println("This must not be in the bundle") }

func three() int { calls++; return 3 }

var calls int

func loops(n int) {
	var fs []func() int
	for i := 0; i < 3; i++ {
		i := i
		fs = append(fs, func() int { return 10 * i })
	}
	for _, v := range []int{7, 8} {
		kept := v + three()
		fs = append(fs, func() int { return kept })
	}
	for _, f := range fs {
		fmt.Print(f(), " ")
	}
	var ps []*int
	values := [3]int{1, 2, 3}
	for i := range values {
		ps = append(ps, &values[i])
	}
	for _, s := range []moves.State{moves.Make(3)} {
		word, cells := &s.State.Base.Word, s.Cells[:2] // s holds a pointer to both
		fmt.Print(*ps[2], s.Show(), s.State.Bump(), *word, cells, " ")
	}
	fmt.Println(calls, time.Duration(n), values[1:])
}
