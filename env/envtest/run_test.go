package envtest

import (
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"blockyard/env"
)

const goldenPlies = 40 // plies written in full; of the rest only the final position is written

// playthrough compares one seeded random game, as text, with the recorded one.
func playthrough(t *testing.T, g *env.Game) {
	file := filepath.Join("testdata", strings.ReplaceAll(g.Name, ":", "-")+".txt")
	got := transcript(g)
	if Updating() {
		if err := errors.Join(os.MkdirAll("testdata", 0o755), os.WriteFile(file, []byte(got), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v (BLOCKYARD_UPDATE=1 records it)", err)
	}
	if d := firstDifference(string(want), got); d != "" {
		t.Errorf("%s: %s\nraise Game.Rules if the rules changed; BLOCKYARD_UPDATE=1 rewrites", file, d)
	}
}

func firstDifference(want, got string) string {
	a, b := strings.Split(want, "\n"), strings.Split(got, "\n")
	for k := range max(len(a), len(b)) {
		switch {
		case k >= len(a):
			return fmt.Sprintf("line %d: recorded game ends, played on with %q", k+1, b[k])
		case k >= len(b):
			return fmt.Sprintf("line %d: the game ends, recorded is %q", k+1, a[k])
		case a[k] != b[k]:
			return fmt.Sprintf("line %d: recorded %q, played %q", k+1, a[k], b[k])
		}
	}
	return ""
}

// transcript plays one game and returns everything that can be observed of it as text.
func transcript(g *env.Game) string {
	var out strings.Builder
	fmt.Fprintf(&out, "game %s %s rules %d\n", g.Name, g.ID, g.Rules)
	fmt.Fprintf(&out, "seats %d to %d, rows %d\n", g.MinSeats, g.MaxSeats, g.Rows)
	fmt.Fprintf(&out, "actions %d, at most %d legal\n", g.Actions, g.MaxLegal)
	fmt.Fprintf(&out, "planes %v up to %d: %q\nglobals %q\n", g.Planes, g.PlaneMax, g.PlaneNames, g.GlobalNames)
	fmt.Fprintf(&out, "encoded %d bytes\n", env.EncodedLen(g.New(g.MinSeats)))
	w := newWalker(g, g.MinSeats, 1)
	s := g.New(w.seats)
	s.Reset(1)
	for ply := 0; ; ply++ {
		over := s.Acting() == 0
		if ply < goldenPlies || over {
			w.describe(&out, s, ply)
		}
		if over {
			return out.String()
		}
		m := w.moves(s)
		if ply < goldenPlies {
			for set := s.Acting(); set != 0; set = set.Rest() {
				fmt.Fprintf(&out, "seat %d plays %d: %s\n", set.First(), m[set.First()], g.Text(m[set.First()]))
			}
		}
		s.Step(m)
	}
}

func (w *walker) describe(out *strings.Builder, s env.State, ply int) {
	fmt.Fprintf(out, "\n# ply %d\n%sacting %0*b, drawn %d\n", ply, Frame(s).String(), w.seats, s.Acting(), s.Draws(nil))
	for seat := range w.seats {
		v := look(w.g, s, seat)
		h := fnv.New32a()
		h.Write(v.planes)
		fmt.Fprintf(out, "seat %d: score %d, result %v, planes %08x, globals %v\n",
			seat, s.Score(seat), s.Result(seat), h.Sum32(), v.globals)
		fmt.Fprintf(out, "  legal %d: %d\n", len(v.legal), v.legal)
	}
}

// A promise is one requirement of package env. check plays random games, which follow from seed, and
// returns an error that says how a game broke the promise.
type promise struct {
	name  string
	check func(g *env.Game, seats int, seed uint64) error
}

// always is a check of every position of random games, in order.
func always(visit func(w *walker, s env.State, ply int) error) func(g *env.Game, seats int, seed uint64) error {
	return func(g *env.Game, seats int, seed uint64) error {
		w := newWalker(g, seats, seed)
		return w.each(seed, func(s env.State, ply int) error { return visit(w, s, ply) })
	}
}

// promises lists what run checks besides the playthrough.
var promises = []promise{
	{"facts", facts},
	{"flat state", flat},
	{"legal moves", always((*walker).legalIn)},
	{"action text", actionText},
	{"step and check", stepAndCheck},
	{"illegal input", always((*walker).illegalInput)},
	{"result", always((*walker).result)},
	{"determinism", always((*walker).determinism)},
	{"seeds", seeds},
	{"copies", always((*walker).copies)},
	{"bytes", always((*walker).roundTrip)},
	{"foreign bytes", foreignBytes},
	{"counts", always((*walker).counts)},
	{"hashes", hashes},
	{"observation", observation},
	{"looking changes nothing", always((*walker).lookingOnly)},
	{"hidden information", hidden},
	{"nothing leaks", always((*walker).leaks)},
	{"forced draws", always((*walker).forcedDraws)},
	{"afterstates", always((*walker).afterstates)},
	{"frames", always((*walker).frames)},
	{"no allocation", noAllocation},
}

// run checks every promise for every number of seats, and the playthrough.
func run(t *testing.T, g *env.Game) {
	seed := Seed(t)
	for seats := g.MinSeats; seats <= g.MaxSeats; seats++ {
		t.Run(fmt.Sprintf("%d seats", seats), func(t *testing.T) {
			for _, p := range promises {
				t.Run(p.name, func(t *testing.T) {
					if err := guard(func() error { return p.check(g, seats, seed) }); err != nil {
						t.Errorf("%s, %d seats, seed %d: %v", g.Name, seats, seed, err)
					}
				})
			}
		})
	}
	t.Run("playthrough", func(t *testing.T) { playthrough(t, g) })
}

// guard turns a panic in f into an error.
func guard(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return f()
}
