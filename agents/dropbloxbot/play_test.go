package dropbloxbot

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"blockyard/env"
	"blockyard/env/dropblox"
)

func playOut(a *Agent, seed uint64) (score, turns int) {
	var s dropblox.State
	s.Reset(seed)
	for !s.Failed {
		act, _ := a.Act(context.Background(), &s, 0)
		s.Step(env.Alone(0, act))
	}
	return int(s.Points), int(s.Turns)
}

func TestScratch(t *testing.T) {
	w, _ := strconv.Atoi(os.Getenv("W"))
	n, _ := strconv.Atoi(os.Getenv("N"))
	if w == 0 {
		return
	}
	sum := 0
	for seed := uint64(1); seed <= uint64(n); seed++ {
		at := time.Now()
		score, turns := playOut(NewAgent(&Hand{Classic}, w, 0), seed)
		sum += score
		fmt.Println(seed, score, turns, time.Since(at), time.Since(at)/time.Duration(turns))
	}
	fmt.Println("mean", float64(sum)/float64(n))
}
