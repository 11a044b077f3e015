package program

import (
	"bytes"
	"os"
	"runtime/debug"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/stretchr/testify/require"
)

// Without the linker's values, the commit is what the go command recorded.
func TestRead(t *testing.T) {
	require.Regexp(t, `^train devel \(commit \S+, date \S+, go1\S+, \w+/\w+\)$`, Read().Line("train"))

	i := Info{Version: "devel", Go: "go1.26", Platform: "linux/amd64"}
	require.Equal(t, "train devel (commit unknown, date unknown, go1.26, linux/amd64)", i.Line("train"))
	i.record([]debug.BuildSetting{{Key: "vcs.modified", Value: "true"}})
	require.Empty(t, i.Commit)
	i.record([]debug.BuildSetting{{Key: "vcs.revision", Value: "83b36d6"},
		{Key: "vcs.time", Value: "2026-11-22T19:04:05Z"}, {Key: "vcs.modified", Value: "true"}})
	require.Equal(t, "train devel (commit 83b36d6+modified, date 2026-11-22T19:04:05Z, go1.26, linux/amd64)",
		i.Line("train"))
}

func TestLinkerValues(t *testing.T) {
	version, commit, date = "1.2.3", "83b36d6", "2026-11-22T19:04:05Z"
	defer func() { version, commit, date = "", "", "" }()
	require.Contains(t, Read().Line("train"), "train 1.2.3 (commit 83b36d6, date 2026-11-22T19:04:05Z, go1")
}

func TestCalled(t *testing.T) {
	defer func(old string) { os.Args[0] = old }(os.Args[0])
	for file, want := range map[string]string{
		"/tmp/go-build1/b001/exe/train": "train", "./bin/blockyard-train": "blockyard-train",
		"blockyard-train.exe": "blockyard-train", "blockyard serve": "blockyard serve",
	} {
		os.Args[0] = file
		require.Equal(t, want, Called("train"), file)
	}
}

// The help of a flag shows its default once, also where a placeholder stands for the value.
func TestHelp(t *testing.T) {
	var flags struct {
		Games int    `help:"Number of games." default:"40"`
		Out   string `help:"File to write." default:"bot.go" placeholder:"FILE"`
		Token string `help:"Text." env:"BLOCKYARD_TOKEN" placeholder:"TEXT"`
		Mode  string `arg:"" optional:"" help:"local or remote." default:"local"`
	}
	var out bytes.Buffer
	parser, err := kong.New(&flags, kong.ConfigureHelp(kong.HelpOptions{Compact: true}), kong.ValueFormatter(helpOf),
		kong.Writers(&out, &out), kong.Exit(func(int) {}))
	require.NoError(t, err)
	_, _ = parser.Parse([]string{"--help"})
	for _, want := range []string{
		"--games=40      Number of games.\n", "--out=FILE      File to write. Default: bot.go.\n",
		"--token=TEXT    Text ($BLOCKYARD_TOKEN).\n", "[<mode>]    local or remote. Default: local.\n",
	} {
		require.Contains(t, out.String(), want)
	}
}
