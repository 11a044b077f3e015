package dropbloxlog

import (
	"fmt"
	"strconv"
	"strings"

	"blockyard/datasets/conform"
	"blockyard/env/dropblox"
)

// uniformRecord is the first uniform numbers of a seed, as hexadecimal floating point.
type uniformRecord struct {
	Seed   seed     `json:"seed"`
	Random []string `json:"random"`
}

func checkUniform(t *conform.Tally, r *uniformRecord) error {
	g, err := generator(r.Seed)
	if err != nil {
		return err
	}
	for k, text := range r.Random {
		want, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return fmt.Errorf("random: %w", err)
		}
		t.At("seed %s, number %d", r.Seed, k)
		conform.Same(t, "random", want, g.Uniform())
	}
	return nil
}

func generator(s seed) (g dropblox.Twister, err error) {
	key, err := dropblox.Key(string(s))
	if err == nil {
		g.Seed(key)
	}
	return g, err
}

// drawsRecord is the types drawn from a seed: seven at score 0, then at scores that the
// trajectory gives, "const:c" or "ramp:m" for m times 0, 1, 2, ...
type drawsRecord struct {
	Seed       seed   `json:"seed"`
	Trajectory string `json:"trajectory"`
	Types      []int  `json:"types"`
}

const openingDraws = dropblox.Known + 1

func checkDraws(t *conform.Tally, r *drawsRecord) error {
	g, err := generator(r.Seed)
	if err != nil {
		return err
	}
	form, number, _ := strings.Cut(r.Trajectory, ":")
	step, err := strconv.Atoi(number)
	if err != nil || form != "const" && form != "ramp" || step < 0 || step > 1<<40 {
		return fmt.Errorf(`trajectory %q: want "const:c" or "ramp:m"`, r.Trajectory)
	}
	for k, want := range r.Types {
		score := 0
		if k >= openingDraws {
			score = step
			if form == "ramp" {
				score *= k - openingDraws
			}
		}
		t.At("seed %s, %s, draw %d", r.Seed, r.Trajectory, k)
		p := g.Uniform()
		conform.Same(t, "types", want, dropblox.Draw(p, g.Uniform(), score))
	}
	return nil
}
