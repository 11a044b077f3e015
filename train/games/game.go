// Package games says what training needs to know about each game, from the game's entry in agents/bots, so every game
// with features can be trained. A file per game adds what makes training faster or stronger. A network evaluates
// afterstates: positions right after a seat's own action. Features that the action can change come first, then those
// that all actions of one decision share.
package games

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"blockyard/agents/bots"
	"blockyard/agents/bots/entry"
	"blockyard/agents/bots/features"
	"blockyard/agents/mlp"
	"blockyard/agents/search"
	"blockyard/datasets/program/disk"
	"blockyard/env"
	"blockyard/env/games"
)

// A Game is one game as its trainer sees it.
type Game struct {
	Rules    *env.Game
	Features []string // in order; about -2 to 2 each
	Own      int      // the first Own of them can change with the seat's own choice
	entry    *entry.Entry

	// Reader creates a feature reader for one goroutine.
	Reader func() features.Reader
	// Evaluator creates an evaluator: that which plays by a clone of a network or, without one, the baseline, which plays
	// the warm start and is the opponent in gates.
	Evaluator func(*mlp.Net) (search.Evaluator, error)
	// Chance is the target that a finished game gives a seat, 0 to 1: by default the seat's Result on that scale.
	Chance func(s env.State, seat int) float32
	// Damage turns a fresh position into a late or hard one that Check accepts and is not over, at random by r alone.
	Damage func(s env.State, r *env.Rand)
	// Mirror, if set, turns a row of features into that of the mirror image of the position, which has the same value.
	Mirror func(row []float32)
	// Outcomes is how many equally likely draws a search of three plies enumerates.
	Outcomes int
	// Larger, if set, is a game whose networks are those of this one, since it is played and learned faster.
	Larger *env.Game
	// Solo, if set, replaces results in a game of one seat. Then Evaluator and Chance may be missing.
	Solo *Solo
}

// A Solo says what rewards the choices of a game of one seat bring.
type Solo struct {
	Discount float64 // per choice
	Unit     float64 // reward of a point of Score
	// Survival, if set, makes the network learn whether the game goes on, in the place of points: the discounted chance
	// of that. It is what the file of such a network says of its output, the logit of that chance.
	Survival string
	// Planner, if set, makes the policy of training, without a net by the baseline. A wider one compares more plans.
	Planner func(net *mlp.Net, width int) Plan
}

// A Plan returns what to choose in s by a search. It writes the features of the position where the plan ends, which
// searches evaluate, to x, and returns its points; ok is false if every plan ends the game.
type Plan func(s env.State, x []float32) (a env.Action, points int, ok bool)

// Save writes a network for the game, with notes, to a file, which is unchanged after an error.
func (g *Game) Save(path string, n *mlp.Net, notes map[string]string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return disk.Write(path, 0o644, func(w io.Writer) error { return mlp.Write(w, n, g.entry.Facts(g.Rules, notes)) })
}

// Load reads a network for the game from a file, or the shipped one if path is empty.
func (g *Game) Load(path string) (*mlp.Net, error) { return g.entry.LoadNet(g.Rules, path) }

var ErrNone = errors.New("there is nothing to train for this game") // wrapped if a game cannot be trained

// tuned are the games with more than New gives them.
var tuned = []*Game{BlockBattle, TetrisDuel, Blocking, WinTetris, WinTetrisPaper, Dropblox}

// Open returns what training the game of that name needs, such as blockbattle.
func Open(name string) (*Game, error) {
	g, err := games.Open(name)
	if err != nil {
		return nil, err
	}
	return Of(g)
}

// Of returns what training g needs. Variants share the network of the game that they are variants of, which is the one
// to train, but for those that are tuned; a variant with a table of its own (Game.Table) can be trained too.
func Of(g *env.Game) (*Game, error) {
	if g.Table != nil { // as the game with the default table, by the same features
		base, err := games.Lookup(entry.Base(g))
		if err != nil {
			return nil, err
		}
		t, err := Of(base)
		if err != nil {
			return nil, err
		}
		own := *t
		own.Rules = g
		return &own, nil
	}
	if i := slices.IndexFunc(tuned, func(t *Game) bool { return t.Rules == g || t.Larger == g }); i >= 0 {
		return tuned[i], nil
	}
	var known []string
	for _, first := range trainable() {
		if first == g {
			return New(g, bots.Of(g)), nil
		}
		known = append(known, first.Name)
	}
	return nil, fmt.Errorf("%s: %w; there are %s", g.Name, ErrNone, strings.Join(known, ", "))
}

// trainable lists the first game of every entry that has features, and a way to play by them.
func trainable() (list []*env.Game) {
	seen := map[string]bool{}
	for _, g := range games.All {
		e := bots.Of(g)
		if !seen[e.Game] && e.FeaturesOf(g) != nil && (g.MaxSeats == 1 || e.Search == nil && e.Baseline != nil) {
			list = append(list, g)
		}
		seen[e.Game] = true
	}
	return list
}

// New returns what g's entry alone says: games start as always, and one of one seat pays its score.
func New(g *env.Game, e *entry.Entry) *Game {
	f := &e.Learned.Features
	t := &Game{
		Rules: g, Features: f.Names, Own: f.Own, Reader: f.New, entry: e, Outcomes: e.Outcomes,
		Evaluator: e.Evaluator,
		Chance:    func(s env.State, seat int) float32 { return (1 + s.Result(seat)) / 2 },
		Damage:    func(env.State, *env.Rand) {},
	}
	if g.MaxSeats == 1 {
		t.Solo = &Solo{Discount: 0.99, Unit: 0.01}
	}
	return t
}

// tune gives t what a game adds to it.
func tune(t *Game, add func(t *Game)) *Game {
	add(t)
	return t
}

func below(r *env.Rand, n int) int { return int(r.Next() >> 33 % uint64(n)) }

// Opponent returns a new evaluator: the baseline ("hand") or another one of the game's entry.
func (g *Game) Opponent(name string) (search.Evaluator, error) {
	if name == "hand" {
		return g.Evaluator(nil)
	}
	known := []string{"hand"}
	for _, other := range g.entry.Others {
		e, ok := other.New().(search.Evaluator)
		if ok && other.Name == name {
			return e, nil
		}
		if ok {
			known = append(known, other.Name)
		}
	}
	return nil, fmt.Errorf("unknown opponent %.40q; there are %s", name, strings.Join(known, ", "))
}

// mirrorColumns makes a Mirror for "… height X", "… step X" (signed, from column X-1), "… step size X", and pairs.
func mirrorColumns(names []string, width int, pairs ...[2]string) func([]float32) {
	index := map[string]int{}
	for i, n := range names {
		index[n] = i
	}
	from, sign := make([]int, len(names)), make([]float32, len(names))
	for i, n := range names {
		from[i], sign[i] = i, 1
		cut := strings.LastIndexByte(n, ' ')
		if cut < 0 {
			continue
		}
		x, err := strconv.Atoi(n[cut+1:])
		if err != nil {
			continue
		}
		switch what := n[:cut]; {
		case strings.HasSuffix(what, " height"):
			from[i] = index[fmt.Sprintf("%s %d", what, width-1-x)]
		case strings.HasSuffix(what, " step"):
			from[i], sign[i] = index[fmt.Sprintf("%s %d", what, width-x)], -1
		case strings.HasSuffix(what, " step size"):
			from[i] = index[fmt.Sprintf("%s %d", what, width-x)]
		}
	}
	for _, p := range pairs {
		from[index[p[0]]], from[index[p[1]]] = index[p[1]], index[p[0]]
	}
	return func(row []float32) {
		for i, j := range from { // pairs change places
			if j < i {
				row[i], row[j] = sign[i]*row[j], sign[j]*row[i]
			} else if j == i {
				row[i] *= sign[i]
			}
		}
	}
}
