// Package dropbloxlog compares transcripts of the original engine of Dropblox with package dropblox. By "kind", lines
// are parts of games (game, turn, end), a turn from a position (case), the first uniform numbers of a seed (rng), the
// types drawn at scores (blocks), a game as files (history), or without a kind a block of the table ("offsets"). A
// replay takes seeds, commands and output from the transcript, and in a case also the board and two blocks. It compares
// every other value, and files byte by byte. Boards are rows without the empty ones at the top, points [row, column].
package dropbloxlog

import (
	"fmt"
	"strconv"
	"strings"

	"blockyard/datasets/conform"
	"blockyard/env/dropblox"
)

// New returns a checker of transcripts of Dropblox: whole games, single turns, draws and history files.
func New() *conform.Checker {
	games := new(conform.Series[game])
	return &conform.Checker{Tag: "kind", Kinds: []conform.Kind{
		conform.Line(games, "game", begin),
		conform.Line(games, "turn", turn),
		conform.Line(games, "end", end),
		conform.Tagged("case", "case", checkCase),
		conform.Tagged("seed", "rng", checkUniform),
		conform.Tagged("draw list", "blocks", checkDraws),
		conform.Tagged("folder", "history", checkHistory),
		conform.Keyed("block", "offsets", checkBlock),
	}}
}

// A seed is a whole number of any size, written as a number or as text.
type seed string

func (s *seed) UnmarshalJSON(text []byte) error {
	*s = seed(strings.Trim(string(text), `"`))
	return nil
}

// A blockRecord is a block of the table: its type, its centre and the squares around that (rules §3.1).
type blockRecord struct {
	Type    int      `json:"type"`
	Center  *[2]int  `json:"center"`
	Offsets [][2]int `json:"offsets"`
}

func checkBlock(t *conform.Tally, _ conform.Values, r *blockRecord) {
	mustBeKnown(r.Type)
	if r.Center == nil {
		conform.Malformed(`no "center"`)
	}
	b := dropblox.BlockOf(r.Type)
	t.At("block %d", r.Type)
	conform.Same(t, "center", *r.Center, point(b.Center))
	conform.Same(t, "offsets", fmt.Sprint(r.Offsets), fmt.Sprint(offsets(&b)))
}

func mustBeKnown(types ...int) {
	for _, n := range types {
		if n < 0 || n >= dropblox.Types {
			conform.Malformed("type %d: want 0 to %d", n, dropblox.Types-1)
		}
	}
}

func point(c dropblox.Cell) [2]int { return [2]int{int(c.I), int(c.J)} }

// offsets are the cells of a block as [row, column] relative to its center.
func offsets(b *dropblox.Block) [][2]int { return conform.Each(b.Cells(), point) }

// status is the contest's word for whether a game goes on.
func status(s *dropblox.State) string {
	if s.Failed {
		return "failed"
	}
	return "playing"
}

// uniformRecord is the first uniform numbers of a seed, as hexadecimal floating point.
type uniformRecord struct {
	Seed   seed     `json:"seed"`
	Random []string `json:"random"`
}

func checkUniform(t *conform.Tally, _ conform.Values, r *uniformRecord) {
	g := generator(r.Seed)
	for k, text := range r.Random {
		want, err := strconv.ParseFloat(text, 64)
		if err != nil {
			conform.Malformed("random: %w", err)
		}
		t.At("seed %s, number %d", r.Seed, k)
		conform.Same(t, "random", want, g.Uniform())
	}
}

func generator(s seed) (g dropblox.Twister) {
	key, err := dropblox.Key(string(s))
	conform.Valid(err)
	g.Seed(key)
	return g
}

// drawsRecord is the types drawn from a seed: 7 at score 0, then at scores c ("const:c") or 0, m, 2m… ("ramp:m").
type drawsRecord struct {
	Seed       seed   `json:"seed"`
	Trajectory string `json:"trajectory"`
	Types      []int  `json:"types"`
}

const openingDraws = dropblox.Known + 1

func checkDraws(t *conform.Tally, _ conform.Values, r *drawsRecord) {
	g := generator(r.Seed)
	form, number, _ := strings.Cut(r.Trajectory, ":")
	step, err := strconv.Atoi(number)
	if err != nil || form != "const" && form != "ramp" || step < 0 || step > 1<<40 {
		conform.Malformed(`trajectory %q: want "const:c" or "ramp:m"`, r.Trajectory)
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
}
