package main

import (
	"fmt"
	"os"
	"time"

	"sample/moves"
	"sample/rules"
)

// weights is replaced.
const debug = false

func main() {
	if debug {
		neverReached()
	}
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
	loops(5)
	fmt.Fprintln(os.Stderr, "done")
}

func neverReached() { fmt.Println("This must not be in the bundle") }

func three() int { calls++; return 3 }

var calls int

func loops(n int) {
	var fs []func() int
	for i := range n {
		fs = append(fs, func() int { return i })
	}
	for i := 0; i < 3; i++ {
		fs = append(fs, func() int { return 10 * i })
	}
	for i, v := range []int{7, 8} {
		fs = append(fs, func() int { return v + i })
	}
	sum := 0
	for i := range three() {
		i *= 2
		sum += i
	}
	for range n {
		sum++
	}
	for i := range uint8(3) {
		sum += int(i)
	}
	for range 2 {
		sum += 100
	}
	for _, f := range fs {
		fmt.Print(f(), " ")
	}
	var ps []*int
	for _, v := range []int{1, 2, 3} {
		ps = append(ps, &v)
	}
	for _, p := range ps {
		fmt.Print(*p, " ")
	}
	xs := []int{1, 2}
	clear(xs)
	m := map[string]bool{"a": true}
	clear(m)
	d := min(3*time.Second, time.Duration(n))
	fmt.Println(sum, calls, min(n, 3, sum), max(2.5, float64(n)), min(2, 1), xs, len(m), int(d), max(rules.Kind(n-4), rules.None))
}
