package submit

import (
	"archive/zip"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/bots/blockbattlebot"
	"blockyard/agents/bots/entry/toybot"
	"blockyard/agents/mlp"
	"blockyard/agents/submit/programs/netpack"
	"blockyard/env/envtest"
)

// source writes a bot and checks its length. It returns the net that the bot plays with too.
func source(t *testing.T, b Bot) (src []byte, net *mlp.Net) {
	t.Helper()
	f := envtest.Must(filled(b))
	t.Logf("%d characters, %d bits per weight", len(f.Source), f.Bits)
	require.LessOrEqual(t, len(f.Source), MaxChars)
	if b.Net == nil {
		return f.Source, nil
	}
	return f.Source, netpack.Trusted(envtest.Must(netpack.Encode(b.Net, f.Bits)))
}

// shipped is the network that this program has for a game.
func shipped(game string) *mlp.Net {
	g, e := envtest.Must2(lookup(game))
	return envtest.Must(e.LoadNet(g, ""))
}

// compiled compiles a source file alone and returns the command of the executable.
func compiled(t *testing.T, src []byte) (argv []string) {
	exe := filepath.Join(t.TempDir(), "bot")
	require.NoError(t, Compile(t.Context(), src, exe))
	return []string{exe}
}

func TestSourceRefuses(t *testing.T) {
	for _, c := range []struct {
		b    Bot
		want string
	}{
		{Bot{Game: "blockbattle", Ply: 5}, "ply 5, want 2 to 4"},
		{Bot{Game: "blockbattle", Net: toybot.RandomNet(t, 1, blockbattlebot.Len, 512, 1)}, "train one with at most"},
		{Bot{Game: "dropblox", Ply: 3}, "searches in one way only"},
		{Bot{Game: "wintetris"}, "has no bot in one file: its contest loads a shared library"},
		{Bot{Game: "blockbattle:port"}, "has no bot in one file: want blockbattle, tetrisduel, blocking, dropblox"},
		{Bot{Game: "chess"}, `no game "chess"`},
	} {
		_, err := c.b.Source()
		require.ErrorContains(t, err, c.want)
		require.ErrorContains(t, err, "bot for "+c.b.Game)
	}
}

// Outside of the source tree there is nothing to make a bot of, and the error says where to go.
func TestSourceOutsideTheTree(t *testing.T) {
	dir := t.TempDir()
	_, err := Bot{Game: "blocking", Dir: dir}.Source()
	require.EqualError(t, err, "bot for blocking: "+dir+" is outside the source tree of Blockyard: the bot is made of "+
		"the packages there, so run this in the folder that has Blockyard's go.mod, or below it")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module other\n"), 0o600))
	require.ErrorContains(t, inTree(dir), "outside the source tree")
	require.NoError(t, inTree(""))
	require.NoError(t, inTree("../.."))
}

func TestCheckRefuses(t *testing.T) {
	const bot = "package main\n\nimport (\n\t\"bufio\"\n\t\"fmt\"\n\t\"os\"\n)\n\nfunc main() {\n" +
		"\tfor in := bufio.NewScanner(os.Stdin); in.Scan(); {\n\t\tfmt.Println(\"left,up,drop\")\n\t}\n}\n"
	for _, c := range []struct{ name, src, want string }{
		{"newer language", "package main\n\nfunc main() {\n\tfor range 3 {\n\t}\n}\n", "go1.22"},
		{"no Go", "package main\n\nfunc main( {\n", "compile bot"},
		{"untidy", "package main\nfunc  main() {}\n", "gofmt"},
		{"what vet finds", "package main\n\nimport \"fmt\"\n\nfunc main() { fmt.Printf(\"%d\", \"x\") }\n", "vet"},
		{"nonsense", bot, `unknown token "up"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			require.ErrorContains(t, envtest.Failed(check(t.Context(), "blockbattle", []byte(c.src), nil)), c.want)
		})
	}
}

// A bot and its upload, with one source in it, may be written to a folder that does not exist yet.
func TestUpload(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "bot.zip")
	require.NoError(t, save(path, Zip([]byte("package main\n"))))
	z := envtest.Closing(t, envtest.Must(zip.OpenReader(path)))
	require.Len(t, z.File, 1)
	require.Equal(t, "package main\n", string(envtest.Must(fs.ReadFile(z, "main.go"))))
}

// In an installation, a bot is made of the program beside the executable: the same as that of the sources, and also
// where there are other sources around, whose weights may be written in another way.
func TestBotsOfAnInstallation(t *testing.T) {
	beside := envtest.Must(installed("dropblox", true))
	var made []Bot
	var here []*File
	for _, e := range submitted() {
		for _, net := range []*mlp.Net{nil, shipped(e.Game)} {
			made = append(made, Bot{Game: e.Game, Net: net})
			here = append(here, envtest.Must(filled(made[len(made)-1])))
		}
	}
	t.Cleanup(func() { _ = os.RemoveAll(filepath.Dir(beside)) })
	require.NoError(t, WritePrograms(filepath.Dir(beside)))
	away := t.TempDir()
	for i, b := range made {
		b.Dir = away
		require.Equal(t, here[i], envtest.Must(b.Source()), b.Game)
	}
	require.NoError(t, os.WriteFile(beside, []byte(textMark), 0o600))
	require.NotContains(t, string(envtest.Must(Bot{Game: "dropblox", Net: shipped("dropblox")}.Source()).Source), "package")
	_, err := Bot{Game: "blocking", Ply: 2, Dir: away}.Source()
	require.ErrorContains(t, err, "ply 2: an installed blockyard makes the strongest bot only")
}
