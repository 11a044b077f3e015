package commands

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/bots"
	"blockyard/agents/bots/blockbattlebot"
	"blockyard/env"
	"blockyard/env/blockbattle"
	"blockyard/env/vec"
	"blockyard/env/wintetris"
	"blockyard/rpc/server"
)

// What a client may not name is decided by what a spec does, not by the letters in it.
func TestUntrustedOpponents(t *testing.T) {
	const refused = "serve --trust-specs allows it"
	name := "sha256:" + strings.Repeat("0", 64)
	uploads := func(asked string) ([]byte, error) {
		require.Equal(t, name, asked)
		return nil, errors.New("not there")
	}
	opponents := server.Config{}.WithBots().Agents
	foreign := func(g *env.Game, spec string) (vec.AgentFactory, error) {
		return opponents(g, bots.Foreign(spec, uploads))
	}
	own := func(g *env.Game, spec string) (vec.AgentFactory, error) {
		return opponents(g, bots.Own(spec).With(uploads))
	}
	for spec, want := range map[string]string{
		"random":               "",
		"learned:time=5ms":     "",
		"exec:true":            refused,
		"hand:weights=" + name: "not there",
		"me=hand:weights=x":    refused,
		"/bin/true":            `unknown agent "/bin/true"`,
		"executive":            `unknown agent "executive"`,
		"hand:ply=weights":     `option ply: "weights" is not a number`,
	} {
		f, err := foreign(blockbattle.Game, spec)
		if want == "" {
			require.NoError(t, err, spec)
			require.NotNil(t, f)
			continue
		}
		require.ErrorContains(t, err, want, spec)
	}
	_, err := foreign(wintetris.Game, "exec:true")
	require.ErrorContains(t, err, refused)
	_, err = own(wintetris.Game, "exec:true")
	require.ErrorContains(t, err, "a program cannot play wintetris here")
	_, err = own(blockbattle.Game, "exec:true")
	require.NoError(t, err)
	_, err = own(blockbattle.Game, "hand:weights=/no/such")
	require.ErrorContains(t, err, "no such file")
	_, err = own(blockbattle.Game, "hand:weights="+name)
	require.ErrorContains(t, err, "not there")
	tuned := blockbattlebot.Entry.Baseline
	weights := tuned.Format(tuned.Weights)
	name = bots.ContentName(weights)
	uploads = func(string) ([]byte, error) { return weights, nil }
	for spec, want := range map[string]string{"hand:ply=1,weights=" + name: "", "learned:weights=" + name: "safetensors"} {
		f, err := foreign(blockbattle.Game, spec)
		if want != "" {
			require.ErrorContains(t, err, want)
			continue
		}
		require.NoError(t, err)
		require.NotNil(t, f)
	}
}
