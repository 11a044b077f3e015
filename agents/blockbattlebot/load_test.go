package blockbattlebot

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/mlp"
	"blockyard/env"
	"blockyard/env/blockbattle"
)

func TestWeightsSurviveJSON(t *testing.T) {
	text := Tuned.JSON()
	back, err := ParseWeights(text)
	require.NoError(t, err)
	require.Equal(t, Tuned, back)

	path := filepath.Join(t.TempDir(), "w.json")
	require.NoError(t, os.WriteFile(path, text, 0o600))
	back, err = LoadWeights(path)
	require.NoError(t, err)
	require.Equal(t, Tuned, back)
	back, err = LoadWeights("")
	require.NoError(t, err)
	require.Equal(t, Tuned, back)
}

func TestParseWeightsRefuses(t *testing.T) {
	good := string(Tuned.JSON())
	for name, c := range map[string]struct{ text, says string }{
		"nothing":      {"", "weights"},
		"not a number": {strings.Replace(good, `"holes": `, `"holes": "x`, 1), "weights"},
		"missing":      {strings.Replace(good, `"combo"`, `"combos"`, 1), `"combo" is missing`},
		"unknown":      {strings.Replace(good, "{", `{"luck": 1,`, 1), `no term is named "luck"`},
		"null":         {`{"holes": null}`, `"holes" is missing`},
		"huge":         {strings.Replace(good, `"holes": `, `"holes": 1e9, "x": `, 1), "1000"},
		"more":         {good + "1", "something follows"},
		"a list":       {"[1, 2]", "weights"},
	} {
		_, err := ParseWeights([]byte(c.text))
		require.ErrorContains(t, err, c.says, name)
	}
	_, err := LoadWeights(filepath.Join(t.TempDir(), "none.json"))
	require.ErrorIs(t, err, os.ErrNotExist)
}

func FuzzParseWeights(f *testing.F) {
	f.Add(Tuned.JSON())
	f.Add([]byte(`{"holes": 1}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		w, err := ParseWeights(text)
		if err != nil {
			return
		}
		back, err := ParseWeights(w.JSON())
		require.NoError(t, err)
		require.Equal(t, w, back)
	})
}

func TestLoadNet(t *testing.T) {
	good := mlp.Facts{Game: "blockbattle", Rules: blockbattle.Game.Rules, Features: FeatureNames}
	other := append([]string(nil), FeatureNames...)
	other[3] = "own luck"
	for name, c := range map[string]struct {
		game  *env.Game
		facts mlp.Facts
		says  string
	}{
		"fits":           {blockbattle.Game, good, ""},
		"a variant":      {blockbattle.ClassicGame, good, ""},
		"another game":   {blockbattle.Game, mlp.Facts{Game: "blocking", Rules: good.Rules, Features: FeatureNames}, `game "blocking"`},
		"other rules":    {blockbattle.Game, mlp.Facts{Game: good.Game, Rules: 99, Features: FeatureNames}, "rules version 99"},
		"other features": {blockbattle.Game, mlp.Facts{Game: good.Game, Rules: good.Rules, Features: other}, `"own luck"`},
	} {
		path := filepath.Join(t.TempDir(), "net.safetensors")
		require.NoError(t, mlp.Save(path, randomNet(t, 1, 16), c.facts), name)
		net, err := LoadNet(c.game, path)
		if c.says == "" {
			require.NoError(t, err, name)
			require.Equal(t, Len, net.In())
			continue
		}
		require.ErrorContains(t, err, c.says, name)
		require.ErrorContains(t, err, path, name)
	}
}

// The shipped net fits, or the error says that there is none.
func TestShipped(t *testing.T) {
	_, missing := shipped.ReadFile(shippedNet)
	net, err := LoadNet(blockbattle.Game, "")
	if missing != nil {
		require.True(t, errors.Is(err, ErrNotShipped), "%v", err)
		return
	}
	require.NoError(t, err)
	_, err = NewLearned(net)
	require.NoError(t, err)
}

func TestExplain(t *testing.T) {
	s := draw(t, tDouble, quadWell)
	s.Sides[0].Points = 5
	text := Tuned.Explain(s, 0)
	require.Regexp(t, `(?m)^doubles +1 `, text)
	require.Regexp(t, `(?m)^points +5 `, text)
	require.NotContains(t, text, "combo")
	var out [1]float32
	NewHand().Evaluate([]env.State{s}, 0, out[:])
	require.Regexp(t, `(?m)^sum `, text)
	sum := float32(0)
	for i, v := range Measure(s, 0) {
		sum += v * Tuned[i]
	}
	require.InDelta(t, out[0], sum, 1e-3)
}
