package commands

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/bots/blockbattlebot"
	"blockyard/env/blockbattle"
	"blockyard/env/wintetris"
)

// What a client may not name is decided by what a spec does, not by the letters in it.
func TestUntrustedOpponents(t *testing.T) {
	const refused = "serve --trust-specs allows it"
	name := "sha256:" + strings.Repeat("0", 64)
	uploads := func(asked string) ([]byte, error) {
		require.Equal(t, name, asked)
		return nil, errors.New("not there")
	}
	for spec, want := range map[string]string{
		"random":                      "",
		"hand:ply=1,width=3":          "",
		"learned:time=5ms":            "",
		"exec:true":                   refused,
		"exec:":                       refused,
		"exec":                        refused,
		"hand:weights=/etc/passwd":    refused,
		"learned:ply=1,weights=x":     refused,
		"learned:weights=" + name:     "not there",
		"hand:weights=" + name:        "not there",
		"exec:true --weights=" + name: refused,
		"executive":                   `unknown agent "executive"`,
		"exec2:true":                  `unknown agent "exec2"`,
		"weights":                     `unknown agent "weights"`,
		"hand:lightweights=3":         `unknown option "lightweights"; there are guard, nodes, ply, time, weights, width`,
		"hand:ply=weights":            `option ply: "weights" is not a number`,
		"random:weights=/etc/passwd":  "random takes no options",
	} {
		f, err := opponents(false)(blockbattle.Game, spec, uploads)
		if want == "" {
			require.NoError(t, err, spec)
			require.NotNil(t, f)
			continue
		}
		require.ErrorContains(t, err, want, spec)
	}
	_, err := opponents(false)(wintetris.Game, "exec:true", uploads)
	require.ErrorContains(t, err, `unknown agent "exec"`, "WinTetris has no contest in lines")
	_, err = opponents(true)(blockbattle.Game, "exec:true", uploads)
	require.NoError(t, err)
	_, err = opponents(true)(blockbattle.Game, "hand:weights=/no/such", uploads)
	require.ErrorContains(t, err, "no such file")
	_, err = opponents(true)(blockbattle.Game, "hand:weights="+name, uploads)
	require.ErrorContains(t, err, "not there")
	tuned := blockbattlebot.Entry.Baseline
	uploads = func(string) ([]byte, error) { return tuned.Format(tuned.Weights), nil }
	for spec, want := range map[string]string{"hand:ply=1,weights=" + name: "", "learned:weights=" + name: "safetensors"} {
		f, err := opponents(false)(blockbattle.Game, spec, uploads)
		if want != "" {
			require.ErrorContains(t, err, want)
			continue
		}
		require.NoError(t, err)
		require.NotNil(t, f)
	}
}
