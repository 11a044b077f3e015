package viewer

import (
	"testing"

	"blockyard/env/envtest/toy"
	"blockyard/env/games"

	"github.com/stretchr/testify/require"
)

func TestKinds(t *testing.T) {
	for name, want := range map[string]kind{
		"blockbattle:classic": {Title: "Block Battle, classic", Unit: "move"},
		"dropblox":            {Title: "Dropblox", Unit: "turn"},
		"wintetris":           {Title: "WinTetris", Unit: "move"},
		"no such:game":        {Title: "No such, game", Unit: "move"},
		"élan":                {Title: "Élan", Unit: "move"},
		"":                    {Unit: "move"},
	} {
		got := kindOf(name)
		_, err := games.Lookup(name)
		require.Equal(t, err == nil, got.Sign != nil, name)
		got.Sign = nil
		require.Equal(t, want, got, name)
	}
}

// A game that shows no pieces has no sign, and one without a title its name.
func TestKindOfAToy(t *testing.T) {
	require.Nil(t, sign(toy.Pick.New(2)))
	require.Empty(t, toy.Pick.Title)
	games.All = append(games.All, toy.Pick)
	defer func() { games.All = games.All[:len(games.All)-1] }()
	require.Equal(t, kind{Title: "Toy, pick", Unit: "move"}, kindOf("toy:pick"))
}
