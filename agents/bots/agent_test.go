package bots

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"blockyard/agents/bots/blockbattlebot"
	"blockyard/agents/contest"
	"blockyard/agents/contest/cage"
	"blockyard/agents/contest/compile"
	"blockyard/env"
	"blockyard/env/blockbattle"
	"blockyard/env/envtest"
	"blockyard/env/games"
	"blockyard/env/wintetris"
)

// dropper is a bot of Block Battle that lets every piece fall where it appears.
const dropper = `while read -r w r; do if [ "$w" = action ]; then echo drop; fi; done`

func write(t *testing.T, path, text string) {
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
}

// tuned is a file of the weights of Block Battle's baseline.
func tuned() []byte { return blockbattlebot.Entry.Baseline.Format(blockbattlebot.Tuned[:]) }

// TestKindsOfAgents: what each text is, how it is shown, and who a record says that played.
func TestKindsOfAgents(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	write(t, "bot.py", "print()\n")
	write(t, "b=c.py", "print()\n")
	require.NoError(t, os.Mkdir("learned", 0o755))
	for _, c := range []struct {
		text, name, spec, recorded string
		kind                       Kind
	}{
		{"hand:ply=1", "hand:ply=1", "hand:ply=1", "hand:ply=1", Ours},
		{"learned", "learned", "learned", "learned", Ours}, // not the folder
		{"cheap=hand:ply=1", "cheap", "hand:ply=1", "cheap", Ours},
		{"v1.2+é=random", "v1.2+é", "random", "v1.2+é", Ours},
		{"human", "human", "human", "human", Human},
		{"Ann=human", "Ann", "human", "Ann", Human},
		{"exec:cat", "exec:cat", "exec:cat", "exec:cat", Program},
		{"exec:A=1 cat", "exec:A=1 cat", "exec:A=1 cat", "exec:A=1 cat", Program},
		{"exec:sh -c 'x=\"a b\"'", "exec:sh -c 'x=\"a b\"'", "exec:sh -c 'x=\"a b\"'", "exec:sh -c 'x=\"a b\"'", Program},
		{"me=exec:A=1 cat", "me", "exec:A=1 cat", "me", Program},
		{"cat -u", "cat -u", "cat -u", "exec:cat -u", Program},
		{"cat --level=3", "cat --level=3", "cat --level=3", "exec:cat --level=3", Program},
		{"me=cat --level=3", "me", "cat --level=3", "me", Program},
		{"bot.py", "bot", "bot.py", "exec:bot", Submission},
		{"bot.py:make", "bot.py:make", "bot.py:make", "bot.py:make", Program},
		{"me=./bot.py:make", "me", "./bot.py:make", "me", Program},
		{"policy:ppo.zip", "policy:ppo.zip", "policy:ppo.zip", "policy:ppo.zip", Program},
		{"./bot.py", "bot", "./bot.py", "exec:bot", Submission},
		{"mine=bot.py", "mine", "bot.py", "mine", Submission},
		{"./b=c.py", "b=c", "./b=c.py", "exec:b=c", Submission},
		{"./learned", "learned", "./learned", "exec:learned", Submission},
		{dir, compile.Name(dir), dir, "exec:" + compile.Name(dir), Submission},
	} {
		a := parsed(t, blockbattle.Game, Own(c.text))
		require.Equal(t, []any{c.name, c.spec, c.recorded, c.kind}, []any{a.Name, a.Spec, a.Recorded(), a.Kind}, c.text)
	}
}

// TestForeignText yields none but the agents of the program, without a look at the disk.
func TestForeignText(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	write(t, "bot.py", "print()\n")
	weights := tuned()
	write(t, "w.json", string(weights))
	came := func(name string) ([]byte, error) {
		require.True(t, strings.HasPrefix(name, ContentPrefix), name)
		return weights, nil
	}
	for _, text := range []string{
		"exec:cat", "me=exec:cat", "exec", "exec:", "policy:ppo.zip", "human", "hand:weights=w.json", "hand:weights=./w.json", "me=human",
		"learned:weights=w.json", "hand:weights=/dev/zero",
	} {
		for _, g := range games.All {
			require.ErrorIs(t, envtest.Failed(Parse(g, Foreign(text, came))), ErrUntrusted, "%s: %s", g.Name, text)
		}
	}
	for _, text := range []string{"bot.py", "./bot.py", "me=bot.py", dir, "cat", "/bin/cat", "cat -u", "a=b=hand", "hand ", "", "..",
		"executive", "exec2:true", "weights", "hand:lightweights=3", "random:weights=/etc/passwd"} {
		_, err := Parse(blockbattle.Game, Foreign(text, came))
		require.Error(t, err, text)
		require.NotContains(t, err.Error(), "exec:CMD")
	}
	envtest.Must(New(blockbattle.Game, Foreign("hand:weights="+ContentName(weights), came)))
	_, err := New(blockbattle.Game, Foreign("hand:weights="+ContentName(nil), came))
	require.ErrorContains(t, err, "are other weights, "+ContentName(weights))
	_, err = New(blockbattle.Game, Foreign("hand:weights="+ContentName(weights), nil))
	require.ErrorIs(t, err, ErrUntrusted)
}

// TestPathsOfWeights: a path that exists is found as it is, and any is found in quotes.
func TestPathsOfWeights(t *testing.T) {
	g := blockbattle.Game
	for _, folder := range []string{"lr=0.1,batch=2", "a,b", "ply=3,eps=1", `x"y,z`} {
		path := filepath.Join(t.TempDir(), folder, "w.json")
		require.NoError(t, os.Mkdir(filepath.Dir(path), 0o700))
		write(t, path, string(tuned()))
		spec, _, _, err := parsed(t, g, Own("hand:weights="+path+",ply=1")).Portable()
		require.NoError(t, err)
		require.Equal(t, "hand:weights="+ContentName(tuned())+",ply=1", spec)
		_, err = Parse(g, Foreign("hand:ply=1,weights="+path, nil))
		_, missing := Parse(g, Foreign("hand:ply=1,weights=/missing"+path, nil))
		require.Error(t, err)
		require.Equal(t, errors.Is(missing, ErrUntrusted), errors.Is(err, ErrUntrusted), "it says which files there are")
	}
	_, err := Parse(g, Own("hand:ply=1,weights=missing/lr=0.1,batch=2/w.json"))
	require.ErrorContains(t, err, "missing/lr=0.1,batch=2/w.json is no file here, nor is missing/lr=0.1; ")
	spec := "hand:weights=" + ContentName(nil) + ",plyy=1"
	for _, text := range []Text{Own(spec), Foreign(spec, nil)} {
		_, err = Parse(g, text)
		require.ErrorContains(t, err, `unknown option "plyy"`)
		require.NotContains(t, err.Error(), "quotes", "weights that are named by content are no path")
	}
}

// TestPortable: an agent with weights means the same elsewhere, where its file is not.
func TestPortable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "w.json")
	w := blockbattlebot.Tuned
	for k := range w { // the best is the worst
		w[k] = -w[k]
	}
	write(t, path, string(blockbattlebot.Entry.Baseline.Format(w[:])))
	g := blockbattle.Game
	a := parsed(t, g, Own("me=hand:ply=1,weights="+path))
	spec, name, data, err := a.Portable()
	require.NoError(t, err)
	require.Equal(t, "hand:ply=1,weights="+name, spec)
	there := envtest.Must(New(g, Foreign(spec, func(asked string) ([]byte, error) {
		require.Equal(t, name, asked)
		return data, nil
	})))
	here := envtest.Must(a.Factory())
	require.NoError(t, os.Remove(path), "it was read once")
	require.Equal(t, play(t, g, here, 1), play(t, g, there, 1))
	require.NotEqual(t, play(t, g, here, 1), play(t, g, factory(t, g, "hand:ply=1"), 1))
	spec, name, _, err = parsed(t, g, Own("hand:ply=1")).Portable()
	require.NoError(t, err)
	require.Equal(t, []string{"hand:ply=1", ""}, []string{spec, name})
	_, _, _, err = parsed(t, g, Own("exec:cat")).Portable()
	require.ErrorIs(t, err, ErrUntrusted)
}

// TestWhereAgentsPlay: an agent that cannot play somewhere says which can.
func TestWhereAgentsPlay(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "bot.py", "print()\n")
	for _, c := range []struct {
		g               *env.Game
		text            string
		factory, playIn string
	}{
		{blockbattle.Game, "human", "a person plays with agents play", "contests are between programs"},
		{blockbattle.Game, "bot.py", "want an agent or exec:CMD here", "not compiled yet"},
		{wintetris.Game, "exec:cat", "want one of random, first, hand", ""},
		{wintetris.Game, "hand", "", "agents bot cannot play wintetris"},
	} {
		a := parsed(t, c.g, Own(c.text))
		_, err := a.Factory()
		_, program := a.Program()
		for got, want := range map[error]string{err: c.factory, program: c.playIn} {
			if want == "" {
				require.NoError(t, got, c.text)
			} else {
				require.ErrorContains(t, got, want)
			}
		}
	}
	p := envtest.Must(parsed(t, blockbattle.PortGame, Own("me=hand:ply=1")).Program())
	require.Equal(t, []string{"bot", "blockbattle:port", "--agent", "hand:ply=1"}, p.Argv[1:])
}

// TestProgramsPlay: a command, and sources that are compiled, play as agents, in every dialect of the protocol. A
// program that is late plays none.
func TestProgramsPlay(t *testing.T) {
	path := filepath.Join(t.TempDir(), "dropper.py")
	write(t, path, "import sys\nfor line in sys.stdin:\n    if line.startswith('action'): print('drop', flush=True)\n")
	for _, text := range []string{"exec:" + dropper, dropper, path, "me=" + path} {
		a := parsed(t, blockbattle.Game, Own(text))
		forget := envtest.Must(PrepareAll(t.Context(), a))
		drops(t, blockbattle.Game, envtest.Must(a.Factory()))
		forget()
		p := envtest.Must(a.Program())
		if built, ok := p.Cage.(*cage.Cage); ok {
			require.NoDirExists(t, built.Files)
		}
	}
	drops(t, blockbattle.PortGame, factory(t, blockbattle.PortGame, "exec:"+dropper))
	late := agent(t, blockbattle.Game, "exec:cat >/dev/null", 1)
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	require.Equal(t, env.None, envtest.Must(late.Act(ctx, blockbattle.Game.New(2), 1)))
	require.NoError(t, late.(io.Closer).Close())
	write(t, path, "def (")
	forget, err := PrepareAll(t.Context(), parsed(t, blockbattle.Game, Own(path)))
	defer forget()
	require.ErrorAs(t, err, new(*compile.Refusal))
}

// drops lets an agent make the moves of dropper.
func drops(t *testing.T, g *env.Game, f Factory) {
	a := envtest.Must(f(1))
	s := envtest.Start[env.State](g, 2, 5)
	for range 3 {
		column := 3 // leftmost, of every piece but one
		if s.(*blockbattle.State).Piece == blockbattle.O {
			column = 4
		}
		got := act(a, s, 1)
		require.Equal(t, column, int(got)%200/20, blockbattle.Text(got))
		s.Step(env.Moves{s.Legal(0, nil)[0], got, env.None, env.None})
	}
	require.NoError(t, a.(io.Closer).Close())
	require.ErrorIs(t, envtest.Failed(a.Act(t.Context(), s, 1)), contest.ErrGone)
}

// FuzzParse reads any text as an agent of any game. An alias is a plain word, and what follows it is the rest. Foreign
// text yields none but agents of the program without a file, which play.
func FuzzParse(f *testing.F) {
	for k, text := range []string{"hand:ply=2,width=4", "random", "learned:weights=/x", "terms6:time=1ms", ":=,", "learned",
		"leftmost", "hand:parts=3", "hand:width=3", "exec:/bin/true", "A=1 ./bot", "me=exec:A=1 ./bot 'x y'", "=hand", "a=b=c",
		"exec:\"my bot\" --x=1", "me=hand:weights=sha256:00", "human", "x=human", "/bin/true", "é=hand:ply=1", "-a=hand"} {
		f.Add(uint8(k), text)
	}
	f.Fuzz(func(t *testing.T, which uint8, text string) {
		if name, spec := Alias(text); spec != text {
			require.Equal(t, text, name+"="+spec)
			require.False(t, strings.ContainsAny(name, " \t\n:=\"'/\\$;&|") || name[0] == '-', name)
		}
		g := games.All[int(which)%len(games.All)]
		a, err := Parse(g, Foreign(text, nil))
		if err != nil {
			require.Less(t, len(err.Error()), 1000)
			return
		}
		require.Equal(t, Ours, a.Kind)
		require.NotContains(t, a.Spec, "weights")
		if made, err := a.Factory(); err == nil { // else the options do not go together
			envtest.Must(made(1))
		}
	})
}
