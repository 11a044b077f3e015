package bots

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"blockyard/agents/bots/entry"
	"blockyard/agents/bots/entry/toybot"
	"blockyard/agents/bots/features"
	"blockyard/agents/mlp"
	"blockyard/agents/search"
	"blockyard/env"
	"blockyard/env/envtest"
	"blockyard/env/envtest/toy"
	"blockyard/env/games"
)

// Every game has an entry, and every entry a game; both lists have the same order.
func TestEntriesAreThoseOfTheGames(t *testing.T) {
	var want, have []string
	for _, g := range games.All {
		if base := entry.Base(g); base == g.Name {
			want = append(want, base)
		}
	}
	for _, e := range All {
		have = append(have, e.Game)
		require.Len(t, e.Baseline.Weights, len(e.Baseline.Terms), e.Game)
	}
	require.Equal(t, want, have)
}

func TestWeightsAreChecked(t *testing.T) {
	for _, e := range All {
		b := e.Baseline
		good, first, last := string(b.Format(b.Weights)), b.Terms[0], b.Terms[len(b.Terms)-1]
		for name, c := range map[string]struct{ text, says string }{
			"nothing":      {"", "weights: "},
			"not a number": {strings.Replace(good, `"`+first+`": `, `"`+first+`": "x`, 1), "weights: "},
			"missing":      {strings.Replace(good, `"`+last+`"`, `"luck"`, 1), `weights: term "` + last + `" is missing`},
			"unknown":      {strings.Replace(good, "{", `{"luck": 1,`, 1), `weights: no term is named "luck"`},
			"null":         {`{"` + first + `": null}`, `weights: term "` + first + `" is missing`},
			"huge": {strings.Replace(good, `"`+first+`": `, `"`+first+`": 1e9, "x": `, 1),
				`weights: term "` + first + `" has weight 1e+09, want at most ±1000`},
			"more":   {good + "1", "weights: something follows the object"},
			"a list": {"[1, 2]", "weights: json"},
		} {
			_, err := b.LoadFrom(func(string) ([]byte, error) { return []byte(c.text), nil }, "w.json")
			require.ErrorContains(t, err, "w.json: "+c.says, "%s: %s", e.Game, name)
		}
		path := filepath.Join(t.TempDir(), "w.json")
		require.ErrorIs(t, envtest.Failed(b.Load(path)), os.ErrNotExist)

		want := append([]float32{-0.5, entry.MaxWeight}, b.Weights[2:]...)
		require.NoError(t, os.WriteFile(path, b.Format(want), 0o600))
		require.Equal(t, want, envtest.Must(b.Load(path)), e.Game)
		tuned := envtest.Must(b.Load(""))
		require.Equal(t, b.Weights, tuned)
		tuned[0]++
		require.NotEqual(t, b.Weights, tuned, "the tuned weights are no one's to change")
	}
}

func FuzzWeights(f *testing.F) {
	for k, e := range All {
		f.Add(k, e.Baseline.Format(e.Baseline.Weights))
	}
	f.Add(0, []byte(`{"holes": 1}`))
	f.Fuzz(func(t *testing.T, k int, text []byte) {
		b := All[uint(k)%uint(len(All))].Baseline
		if w, err := b.Parse(text); err == nil {
			require.Equal(t, w, envtest.Must(b.Parse(b.Format(w))))
		}
	})
}

// A shipped network and a named one pass the same checks, for a game and its variants. Of features that differ, the first
// is named.
func TestNetsAreChecked(t *testing.T) {
	for _, g := range games.All {
		shipping := *Of(g)
		e, learned := &shipping, *Of(g).Learned
		e.Learned = &learned
		names := learned.Features.Names
		other := slices.Clone(names)
		other[3] = "own luck"
		fewer, order := slices.Delete(slices.Clone(names), 2, 4), append(slices.Clone(names[1:]), names[0])
		good := mlp.Facts{Game: e.Game, Rules: g.Rules, Features: names}
		require.Equal(t, good, e.Facts(g, nil))
		for name, c := range map[string]struct {
			facts mlp.Facts
			out   int
			says  string
		}{
			"fits":           {good, 1, ""},
			"another game":   {mlp.Facts{Game: "chess", Rules: g.Rules, Features: names}, 1, `game "chess"`},
			"other rules":    {mlp.Facts{Game: e.Game, Rules: 99, Features: names}, 1, "rules version 99"},
			"other features": {mlp.Facts{Game: e.Game, Rules: g.Rules, Features: other}, 1, `weights have feature 3 as "own luck"`},
			"fewer features": {mlp.Facts{Game: e.Game, Rules: g.Rules, Features: fewer}, 1, "weights have feature 2"},
			"another order":  {mlp.Facts{Game: e.Game, Rules: g.Rules, Features: order}, 1, "weights have feature 0"},
			"other shape":    {good, 2, "outputs"},
		} {
			path := filepath.Join(t.TempDir(), "net.safetensors")
			save(t, path, toybot.RandomNet(t, 1, len(c.facts.Features), c.out), c.facts)
			file := envtest.Must(os.ReadFile(path))
			learned.File = "w/net"
			learned.Files = fstest.MapFS{"w/net": {Data: file}}
			for place, from := range map[string]string{"w/net": "", path: path} {
				net, err := e.LoadNet(g, from)
				if c.says == "" {
					require.NoError(t, err, "%s: %s", g.Name, name)
					require.Equal(t, len(names), net.In())
					continue
				}
				require.ErrorContains(t, err, place+": ", "%s: %s", g.Name, name)
				require.ErrorContains(t, err, c.says, "%s: %s", g.Name, name)
			}
		}
		require.ErrorIs(t, envtest.Failed(e.LoadNet(g, filepath.Join(t.TempDir(), "none"))), os.ErrNotExist)
		learned.Files = fstest.MapFS{}
		_, err := e.LoadNet(g, "")
		require.ErrorIs(t, err, mlp.ErrNotShipped)
		require.ErrorContains(t, err, g.Name+": no weights shipped: train some, or name a file")
	}
	_, err := Of(&env.Game{Name: "chess"}).LoadNet(&env.Game{Name: "chess"}, "")
	require.ErrorIs(t, err, mlp.ErrNotShipped)
	require.Nil(t, Features(&env.Game{Name: "chess"}))
}

// Features and terms have names, each once. A learned evaluator is the network over the features: over those that all
// afterstates of a decision share, read from the first one, and each one's own. If two take turns, the gain of one is the
// loss of the other; of more, each has features of its own. An evaluator values positions at once as one by one, and
// allocates nothing.
func TestEvaluators(t *testing.T) {
	for _, g := range append(slices.Clone(games.All), toy.Pick, toy.Turns) {
		e := Of(g)
		if entry.Base(g) == "toy" {
			e = toybot.Entry
		}
		set := e.FeaturesOf(g)
		if set == nil {
			continue
		}
		for _, names := range [][]string{set.Names, e.Baseline.Terms} {
			require.NotContains(t, names, "", g.Name)
			require.Len(t, slices.Compact(slices.Sorted(slices.Values(names))), len(names), g.Name)
		}
		net := toybot.RandomNet(t, 1, len(set.Names), 8, 1)
		_, err := e.Evaluator(toybot.RandomNet(t, 1, 3, 1))
		require.ErrorContains(t, err, "a net of 3 inputs and 1 outputs", g.Name)
		learned, err := e.Evaluator(net.Clone())
		if e.Search != nil { // whose package compares its evaluator with the network
			require.ErrorContains(t, err, "no such evaluator")
			continue
		}
		require.NoError(t, err)
		hand := envtest.Must(e.Evaluator(nil))
		for seats := g.MinSeats; seats <= g.MaxSeats; seats++ {
			for _, s := range situations(t, g, seats, 7, 25) {
				seat := s.Acting().First()
				after := toybot.After(g, s, seat)
				if len(after) == 0 {
					continue
				}
				got, one := make([]float32, len(after)), make([]float32, 1)
				for who := range seats {
					if who != seat && g.Rows > 1 {
						continue
					}
					sign, whose := float32(1), who
					if seats == 2 && who != seat {
						sign, whose = -1, seat
					}
					learned.Evaluate(after, who, got)
					for i, want := range overFeatures(set, net, after, whose) {
						require.InDelta(t, sign*want, got[i], 1e-3, "%s, %d seats, seat %d", g.Name, seats, who)
					}
				}
				for _, j := range []search.Evaluator{learned, hand} {
					j.Evaluate(after, seat, got)
					for i := range after {
						j.Evaluate(after[i:i+1], seat, one)
						require.Equal(t, one[0], got[i], g.Name)
					}
					require.Zero(t, testing.AllocsPerRun(1, func() { j.Evaluate(after, seat, got) }), g.Name)
				}
			}
		}
	}
}

// overFeatures are the values of the network over the features of afterstates.
func overFeatures(set *features.Set, net *mlp.Net, after []env.State, seat int) []float32 {
	n, reader := len(set.Names), set.New()
	rows, out := make([]float32, 0, len(after)*n), make([]float32, len(after))
	shared := make([]float32, n-set.Own)
	reader.Shared(after[0], seat, shared)
	for _, s := range after {
		own := make([]float32, set.Own)
		reader.Own(s, seat, own)
		rows = append(append(rows, own...), shared...)
	}
	net.Forward(rows, len(after), out)
	return out
}

func save(t testing.TB, path string, n *mlp.Net, f mlp.Facts) {
	var b bytes.Buffer
	require.NoError(t, mlp.Write(&b, n, f))
	require.NoError(t, os.WriteFile(path, b.Bytes(), 0o644))
}

// FuzzNet reads a file of weights with bytes changed, of every game: refused, or a network that plays legal actions,
// whatever numbers it computes. A patch is a list of places (two bytes) and what is put there.
func FuzzNet(f *testing.F) {
	fits := slices.DeleteFunc(slices.Clone(games.All), func(g *env.Game) bool { return Features(g) == nil })
	var files [][]byte
	for which, g := range fits {
		var b bytes.Buffer
		require.NoError(f, mlp.Write(&b, toybot.RandomNet(f, 1, len(Features(g).Names), 3, 1), Of(g).Facts(g, nil)))
		files = append(files, b.Bytes())
		f.Add(uint8(which), []byte{})
		last := b.Len() - 1
		f.Add(uint8(which), []byte{byte(last >> 8), byte(last), 0x7f, byte((last - 4) >> 8), byte(last - 4), 0xff})
	}
	f.Fuzz(func(t *testing.T, which uint8, patch []byte) {
		g, file := fits[int(which)%len(fits)], bytes.Clone(files[int(which)%len(fits)])
		for ; len(patch) >= 3; patch = patch[3:] {
			file[(int(patch[0])<<8|int(patch[1]))%len(file)] = patch[2]
		}
		came := func(string) ([]byte, error) { return file, nil }
		factory, err := New(g, Foreign("learned:weights="+ContentName(file), came))
		if err != nil {
			return
		}
		a := envtest.Must(factory(1))
		s := envtest.Start[env.State](g, g.MinSeats, 1)
		walk(t, g, s, 3, func(view env.State, seat, _ int) env.Action { return act(a, view, seat) })
	})
}
