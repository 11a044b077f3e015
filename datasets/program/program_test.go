//go:build unix

package program

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
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
	interrupted, cancel := context.WithCancel(t.Context())
	cancel()
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
			ctx = interrupted
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
