package program

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/stretchr/testify/require"

	"blockyard/datasets/program/named"
	"blockyard/env/ansi"
	"blockyard/env/envtest"
)

type commands struct {
	Flag
	Play struct {
		playCmd
		Out   string `placeholder:"FILE"`
		Title string `empty:""`
		Mode  string `default:"slow"`
		Twice bool   `needs:"out"`
		Hurry bool   `needs:"mode=fast" help:"play faster."`
		Other bool   `needs:"no-such-flag"`
	} `cmd:"" help:"Play."`
}

type playCmd struct {
	Game string `arg:""`
	Seed int    `default:"1" help:"Seed."`
}

func (c *playCmd) Run(ctx context.Context, con *Console) error {
	switch c.Game {
	case "chess":
		return Usage(errors.New("chess is no game"))
	case "broken":
		return errors.New("it broke")
	case "other":
		return ErrFound
	}
	return ctx.Err()
}

// A full disk or a closed file is an error, also for commands that do not look at the errors of printing.
func TestUnwrittenOutputFails(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer full.Close()
	defer func(args []string, out *os.File) { os.Args, os.Stdout = args, out }(os.Args, os.Stdout)
	os.Args, os.Stdout = []string{"test", "--version"}, full
	require.Equal(t, Failed, (&Program{Name: "test", Version: "7.1", Commands: new(commands)}).Main())
}

// The exit status says whose fault it was; errors say where to look.
func TestStatus(t *testing.T) {
	for line, want := range map[string]struct {
		status int
		says   string // on the standard error
	}{
		"play interrupted":            {Failed, "test: interrupted\n"},
		"play go":                     {Done, ""},
		"play go --seed -5":           {Done, ""},
		"play --seed -5 go":           {Done, ""},
		"--help":                      {Done, ""},
		"help play":                   {Done, ""},
		"--version":                   {Done, ""},
		"play --version go":           {Done, ""},
		"play broken":                 {Failed, "test: it broke\n"},
		"play other":                  {Failed, ""},
		"play chess":                  {Wrong, "test: chess is no game\n"},
		"":                            {Wrong, "Usage: test <command>"},
		"sing":                        {Wrong, "test --help lists the commands\n"},
		"play":                        {Wrong, "test play --help explains the flags\n"},
		"play go --seed many":         {Wrong, "test play --help explains the flags\n"},
		"play go --sead 1":            {Wrong, "the flags of test play are --hurry --mode --other --out --seed --title --twice\n"},
		"play go --twice":             {Wrong, "--twice needs --out\ntest play --help explains the flags\n"},
		"play go --twice --out=x":     {Done, ""},
		"play go --hurry":             {Wrong, "--hurry needs --mode=fast"},
		"play go --hurry --mode=fast": {Done, ""},
		"play go --other":             {Done, ""},
		"play go --out= ":             {Wrong, "--out: empty, want a value"},
		"play go --title= ":           {Done, ""},
		"play go --out=x --x=":        {Wrong, "unknown flag --x"},
	} {
		var out, errs bytes.Buffer
		ctx := t.Context()
		if line == "play interrupted" {
			ctx = envtest.Stopped(t)
		}
		p := &Program{Name: "test", Version: "7.1", About: "Tests.", Commands: new(commands)}
		status := p.Run(ctx, strings.Fields(line), &Console{In: strings.NewReader(""), Out: &out, Err: &errs})
		require.Equal(t, want.status, status, "%s: %s", line, &errs)
		if want.says == "" {
			require.Empty(t, errs.String(), line)
		}
		require.Contains(t, errs.String(), want.says, line)
		require.Equal(t, strings.Contains(line, "--version"), strings.HasPrefix(out.String(), "test 7.1 (commit "), line)
	}
}

func TestBesideAFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "games.jsonl")
	require.NoError(t, Begin("agents", "-7").WriteBeside(file))
	r := envtest.Must(ReadRun(file + ".run.json"))
	require.NotZero(t, r.Started)
	require.GreaterOrEqual(t, *r.Seconds, 0.0)
	want := Run{Program: "agents", Command: os.Args[1:], Seed: "-7", Release: Read(), Started: r.Started, Seconds: r.Seconds}
	require.Equal(t, &want, r)
}

// A process that continues the results of a folder leaves what was said of those before it; one that was killed has
// no duration.
func TestFolderKeepsEarlierProcesses(t *testing.T) {
	folder := t.TempDir()
	for k := range maxEarlier + 3 {
		r := Begin("train", strconv.Itoa(k))
		require.NoError(t, r.Open(folder))
		if k%2 == 0 {
			require.NoError(t, r.Close(folder))
		}
	}
	r := envtest.Must(ReadRun(filepath.Join(folder, RunFile)))
	require.Equal(t, strconv.Itoa(maxEarlier+2), r.Seed)
	require.Len(t, r.Earlier, maxEarlier)
	for k, e := range r.Earlier {
		require.Equal(t, strconv.Itoa(k+2), e.Seed)
		require.Equal(t, k%2 == 0, e.Seconds != nil)
		require.Empty(t, e.Earlier)
	}
}

func TestDamagedFileIsKept(t *testing.T) {
	path := envtest.File(t, RunFile, "{")
	require.ErrorContains(t, Begin("train", "").Open(filepath.Dir(path)), path+", which says")
	require.Equal(t, "{", string(envtest.Must(os.ReadFile(path))))
}

func TestSecretsAreHidden(t *testing.T) {
	given := []string{"--token", "abc", "--seed", "1", "--api-key=abc", "--token-file", "f", "nats://me:abc@host:1", "--token"}
	require.Equal(t,
		[]string{"--token", "***", "--seed", "1", "--api-key=***", "--token-file", "f", "nats://***@host:1", "--token"},
		hideSecrets(given))
	require.Equal(t, "abc", given[1])
}

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

// A command line is parsed by its command alone; help, and a word that is no command, by all of them.
func TestParserOfOneCommand(t *testing.T) {
	p := &Program{Name: "test", Commands: new(struct {
		Flag
		Play playCmd  `cmd:""`
		Stop struct{} `cmd:""`
	})}
	for line, want := range map[string]int{"play chess": 1, "stop": 1, "play --help": 2, "stop -h": 2, "halt": 2, "": 2} {
		require.Len(t, envtest.Must(p.parser(strings.Fields(line), &Console{})).Model.Leaves(false), want, line)
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
	envtest.Has(t, out.String(), "--games=40      Number of games.\n",
		"--out=FILE      File to write. Default: bot.go.\n", "--token=TEXT    Text ($BLOCKYARD_TOKEN).\n",
		"[<mode>]    local or remote. Default: local.\n")
}

// Each command line goes to the program that has the command, with the program's name taken away.
func TestSeveral(t *testing.T) {
	was := os.Args
	t.Cleanup(func() { os.Args = was })
	type run struct {
		Games int `default:"1"`
	}
	var started string
	part := func(name string, commands any) Part {
		return Part{&Program{Name: name, About: name + " does it.\nAnd more.", Commands: commands}, func() int {
			started = name
			return Done
		}}
	}
	several := &Several{Name: "all", About: "Everything.", Parts: []Part{
		part("server", &struct {
			Serve run `cmd:"" help:"Serve games."`
		}{}),
		part("games", &struct {
			Play  run `cmd:"" help:"Play a game."`
			Debug run `cmd:"" hidden:"" help:"Look inside."`
			Serve struct {
				Contest run `cmd:"" help:"Serve a contest."`
			} `cmd:""`
			Look struct {
				Far run `cmd:"" help:"Look far."`
			} `cmd:""`
		}{}),
	}}
	for _, c := range []struct {
		line   []string
		status int
		part   string
		left   []string // of the command line for the part
	}{
		{[]string{"serve", "--games", "2"}, Done, "server", []string{"serve", "--games", "2"}},
		{[]string{"serve", "contest"}, Done, "games", []string{"serve", "contest"}},
		{[]string{"play"}, Done, "games", []string{"play"}},
		{[]string{"debug"}, Done, "games", []string{"debug"}},
		{[]string{"games", "serve", "contest"}, Done, "games", []string{"serve", "contest"}},
		{[]string{"look"}, Done, "games", []string{"look"}},
		{[]string{"--version"}, Done, "server", []string{"--version"}},
		{[]string{"help", "serve", "contest"}, Done, "games", []string{"serve", "contest", "--help"}},
		{[]string{"help"}, Done, "", nil},
		{[]string{"help", "sing"}, Wrong, "", nil},
		{[]string{"sing"}, Wrong, "", nil},
		{nil, Wrong, "", nil},
	} {
		os.Args, started = append([]string{"all"}, c.line...), ""
		require.Equal(t, c.status, several.Main(), "%q", c.line)
		require.Equal(t, c.part, started, "%q", c.line)
		if c.part != "" {
			require.Equal(t, c.left, os.Args[1:], "%q", c.line)
		}
	}
	var out bytes.Buffer
	several.list(&out)
	require.Contains(t, out.String(), "games: games does it.\n  play               Play a game.\n  serve contest      Serve a contest.")
	require.NotContains(t, out.String(), "debug")
	require.NotContains(t, out.String(), "python")
	several.Outside = "understand\t" + strings.Repeat("It takes long. ", 10) + "\ndemo\tA policy learns.\nbench\tSteps per second."
	several.list(&out)
	require.Contains(t, out.String(), "  demo               A policy learns.\n  bench              Steps per second.\n")
	require.Equal(t, `, did you mean "play"?`, several.guess("paly"))
	require.True(t, strings.HasSuffix(out.String(), "To begin: all demo, then all docs first.\n"))
	require.Equal(t, `, did you mean "demo"?`, several.guess("dmeo"))
	require.Equal(t, `, did you mean "help"?`, several.guess("hlep"))
	several.Outside = "plan\tMake a plan."
	require.Equal(t, `, did you mean one of "plan", "play"?`, several.guess("pla"), "of whatever program")
	for line := range strings.Lines(out.String()) {
		require.LessOrEqual(t, len(line), 81, line)
	}
	require.Equal(t, "all play X, `all serve`; “all play --web”, games playing, x/games play", Named(
		"games play X, `server serve`; “games play --web”, games playing, x/games play"), "of who reads it")
	named.In = func(text string) string { return text }
	require.Empty(t, several.guess("sing"))
}

type repeat struct {
	Print repeatCmd `cmd:""`
}

type repeatCmd struct{ Text string }

func (c *repeatCmd) String() string { return c.Text + "\n" }

func (c *repeatCmd) Run(con *Console) error {
	err := errors.Join(con.Print(false, c), con.Print(true, c))
	fmt.Fprintln(con.Err, c.Text)
	return errors.Join(err, errors.New(c.Text))
}

// Whatever a command prints, as text, as JSON or as its error, is harmless. It need not care.
func TestCommandsPrintHarmlessText(t *testing.T) {
	for name, text := range envtest.Hostile {
		if name == "another line" {
			continue // lines of a command may be anything
		}
		var out bytes.Buffer
		p := &Program{Name: "test", Commands: new(repeat)}
		require.Equal(t, Failed, p.Run(t.Context(), []string{"print", "--text", text}, &Console{Out: &out, Err: &out}))
		envtest.Harmless(t, out.String())
		require.Equal(t, 4, bytes.Count(out.Bytes(), []byte("\n")), "text, JSON, standard error and the error: %q", &out)
		out.Reset()
		require.Equal(t, Wrong, p.Run(t.Context(), []string{text}, &Console{Out: &out, Err: &out}))
		envtest.Harmless(t, out.String())
	}
	var out bytes.Buffer
	raw := Raw(&ansi.Writer{To: &out})
	fmt.Fprint(ansi.Styled(raw), "\x1b[1m\n")
	fmt.Fprint(raw, "\x1b[1m\n")
	require.Equal(t, "\x1b[1m\r\n\\u001b[1m\r\n", out.String(), "a terminal in raw mode")
	bar := NewBar(&out, true, 3, "games")
	bar.Show(1, "\x1b[2J")
	require.NotContains(t, bar.State().Description, "\x1b")
}
