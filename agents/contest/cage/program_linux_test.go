package cage

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"blockyard/agents/contest"
	"blockyard/agents/contest/compile/compiletest"
	"blockyard/env/envtest"
)

// shell runs a script of sh in a cage to its end, and returns what it prints to both outputs and its exit status.
func shell(t *testing.T, in *Cage, script string) (string, error) {
	out, errs, ended, status := runSpec(t, contest.Spec{Argv: []string{"/bin/sh", "-c", script}, Cage: in})
	require.Empty(t, ended)
	return out + errs, status
}

// state describes all files below a folder: their names, kinds, modes, sizes, times and texts.
func state(t *testing.T, dir string) string {
	sum := sha256.New()
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		require.NoError(t, err)
		info := envtest.Must(d.Info())
		fmt.Fprintf(sum, "%q %v %d %v\n", path, info.Mode(), info.Size(), info.ModTime())
		if info.Mode().IsRegular() {
			sum.Write(envtest.Must(os.ReadFile(path)))
		}
		return nil
	}))
	return fmt.Sprintf("%x", sum.Sum(nil))
}

// TestFolders: a contained program can do what it needs: write its working folder, which begins as its own files, whatever
// their names and rights, and temporary files, start programs, and leave children unasked for.
func TestFolders(t *testing.T) {
	compiletest.Everywhere(t, func(t *testing.T) {
		f := newField(t)
		t.Setenv("TMPDIR", compiletest.Public(t))
		for _, name := range []string{"--bind", "-n", "a b", "a\nb", "*", "über", "--/-x"} {
			require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(f.own, name)), 0o700))
			require.NoError(t, os.WriteFile(filepath.Join(f.own, name), []byte(name), 0o600))
		}
		require.NoError(t, os.Symlink("bot.py", filepath.Join(f.own, "link")))
		require.NoError(t, os.Symlink(f.secret, filepath.Join(f.own, "out")))
		before := state(t, f.own)
		got, status := shell(t, f.cage, `echo mine > note && chmod 600 note && mv note kept && echo x > $TMPDIR/y &&
			head -c 3 /dev/zero > zeros && echo >> bot.py && rm -- --bind && rm -r -- --/ && mkdir d && echo -n > /dev/stdout && echo -n > /dev/stderr &&
			cat < link > /dev/null && { cat out 2> /dev/null; true; } && for k in 1 2 3; do true & done; sh -c 'echo $0 | cat' works &&
			set -- * && echo $# && exit 7`)
		require.EqualError(t, status, "exit status 7", got)
		require.Equal(t, "works\n11\n", got)
		require.Equal(t, before, state(t, f.own))
		got, _ = run(t, f.cage, 64<<20, "zombies")
		require.Equal(t, "reached \n", got)
		require.Empty(t, envtest.Must(filepath.Glob(filepath.Join(os.TempDir(), "cage-*"))))
	})
}

// TestDir: a program begins in the folder that is named, of odd names, too, and a missing one is an error.
func TestDir(t *testing.T) {
	compiletest.Everywhere(t, func(t *testing.T) {
		f := newField(t)
		for _, name := range []string{"--", "-x/a b"} {
			require.NoError(t, os.MkdirAll(filepath.Join(f.own, name), 0o755))
			out, errs, _, status := runSpec(t, contest.Spec{Argv: []string{"/bin/sh", "-c", `printf %s "${PWD##*/}"`}, Dir: name, Cage: f.cage})
			require.NoError(t, status, errs)
			require.Equal(t, filepath.Base(name), out)
		}
		_, _, _, status := runSpec(t, contest.Spec{Argv: []string{"true"}, Dir: "none", Cage: f.cage})
		require.Error(t, status)
		_, err := contest.StartChild(contest.Spec{Argv: []string{"true"}, Dir: "../other", Cage: f.cage})
		require.EqualError(t, err, `folder "../other": want one below the working folder, or an absolute path`)
		_, _, _, status = runSpec(t, contest.Spec{Argv: []string{"no-such-program"}, Cage: f.cage})
		require.Error(t, status)
	})
}

// rebellions are what a program does to the files that it was started from, so that it, or another process of the same
// program, begins with something else the next time.
var rebellions = map[string]string{
	"renames itself and leaves a link through its working folder": "mv bot mine && ln -s /proc/self/cwd/mine bot",
	"becomes a link to a rival":                                   "rm bot && ln -s ../rival/bot.py bot",
	"becomes a link to a secret":                                  "rm bot && ln -s SECRET bot",
	"deletes itself":                                              "rm bot",
	"takes its right to be executed":                              "chmod 644 bot",
	"changes that right to and fro":                               "for k in $(seq 200); do chmod 644 bot; chmod 755 bot; done",
	"replaces its folder":                                         "cd .. && mv bot old && ln -s SECRET bot",
	"replaces its folder for temporaries":                         "cd .. && { mv tmp old; ln -s SECRET tmp; }; true",
	"takes all rights from its folder":                            "chmod 000 .",
	"leaves files for the next game, also where it was made of and in what its host reads": "echo left > left && " +
		"echo left > $TMPDIR/left; echo left > /tmp/left; echo left > /bot/left || echo left > /bot/bot; echo left > /dev/stderr; true",
}

// TestEveryStartBeginsAnew: whatever a program does to its own files and folders, every start of it is as the first one:
// the host looks at nothing that it could have changed, and nothing is kept. The other program that runs at the same time
// sees nothing of it, either.
func TestEveryStartBeginsAnew(t *testing.T) {
	compiletest.Everywhere(t, func(t *testing.T) {
		for name, script := range rebellions {
			t.Run(name, func(t *testing.T) {
				f := newField(t)
				script := strings.ReplaceAll(script, "SECRET", filepath.Dir(f.secret))
				bot := "#!/bin/sh\nbegan=\"$(ls) $(ls $TMPDIR) $(ls /tmp)\"\n(" + script + ") 2> /dev/null\nended=$?\n" +
					"read x\necho $began ends $ended\nread x\necho $(cat bot)\n"
				require.NoError(t, os.WriteFile(filepath.Join(f.own, "bot"), []byte(bot), 0o755))
				before := state(t, f.dir)
				first := begin(t, f.cage)
				require.Equal(t, "bot bot.py ends 0", answer(t, first))
				second := begin(t, f.cage)
				require.Equal(t, "bot bot.py ends 0", answer(t, second))
				for _, p := range []*contest.Process{second, first} {
					require.NotContains(t, answer(t, p), "text", "the secret, or the rival's program")
					require.NoError(t, p.Close())
				}
				require.Equal(t, before, state(t, f.dir))
			})
		}
	})
}

// begin starts the program ./bot in a cage.
func begin(t *testing.T, in *Cage) *contest.Process {
	return envtest.Closing(t, envtest.Must(contest.Program{Argv: []string{"./bot"}, Cage: in}.Start(nil)))
}

// answer is the next line of a program.
func answer(t *testing.T, p *contest.Process) string {
	line, _, _, err := p.Ask(t.Context(), []string{"x"}, hang)
	require.NoError(t, err)
	return line
}

// naps returns the processes of this machine that are "sleep nap".
func naps(nap string) []string { return compiletest.Running("sleep", nap) }

// TestNothingOutlives: processes in sessions of their own, with an empty environment, too, end with their program.
func TestNothingOutlives(t *testing.T) {
	compiletest.Everywhere(t, func(t *testing.T) {
		f := newField(t)
		for _, environment := range []string{"full", "empty"} {
			nap := fmt.Sprintf("603.%d", time.Now().UnixNano())
			got, _ := run(t, f.cage, 0, "daemon", nap, environment)
			require.Equal(t, "reached \n", got)
			require.Empty(t, naps(nap))
		}
		mark := fmt.Sprint(time.Now().UnixNano())
		_, ended := run(t, f.cage, 0, "sparks", mark)
		require.Regexp(t, "^$|processes", ended)
		require.Empty(t, compiletest.Running("./attack", "sparks", mark))
	})
}

// TestNothingOutlivesItsHost: with a host that is killed by SIGKILL, all ends that its programs have started. Without a
// namespace for processes, the program does, and Missing says so.
func TestNothingOutlivesItsHost(t *testing.T) {
	const variable = "CAGE_TEST_NAP"
	if nap := os.Getenv(variable); nap != "" {
		own := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(own, "bot"), []byte("#!/bin/sh\nsetsid env -i sleep "+nap+" &\nread x\necho ready\nexec sleep "+nap+"\n"), 0o755))
		fmt.Println(answer(t, begin(t, &Cage{Files: own, Limits: Bot})))
		select {}
	}
	for _, kind := range []string{"", compiletest.WithoutRooms} {
		nap := fmt.Sprintf("604.%d", time.Now().UnixNano())
		begun := func() bool { return len(naps(nap)) > 0 }
		compiletest.KillHost(t, begun, variable+"="+nap, compiletest.Machine+"="+kind, "TMPDIR="+compiletest.Public(t))
		most := 0
		if kind == compiletest.WithoutRooms || len(Missing()) > 0 {
			most = 1
		}
		require.Eventually(t, func() bool { return len(naps(nap)) <= most }, hang, 10*time.Millisecond)
		for _, pid := range naps(nap) { // SECURITY.md says that this remains
			require.NoError(t, exec.Command("kill", "-9", pid).Run())
		}
	}
}

// TestFirstProcess: a program that signals every process that it sees, the first one of its namespace, too, ends nothing
// but what is its own.
func TestFirstProcess(t *testing.T) {
	if slices.ContainsFunc(Missing(), func(m string) bool { return strings.Contains(m, "out of sight") }) {
		t.Skip("the first process is that of the machine here: never mind")
	}
	f := newField(t)
	got, status := shell(t, f.cage, `exec 2> /dev/null; kill -9 1; kill -STOP 1; kill -TERM 1; for p in /proc/[0-9]*; do echo ${p#/proc/}; done | wc -l
		kill -KILL -1; exit 7`)
	require.EqualError(t, status, "exit status 7", got)
	require.LessOrEqual(t, envtest.Must(strconv.Atoi(strings.TrimSpace(got))), 5)
	got, status = shell(t, f.cage, "echo again")
	require.NoError(t, status)
	require.Equal(t, "again\n", got)
}

// TestSearchPath: what lies beside the folders of the search path, or of /opt, is not there.
func TestSearchPath(t *testing.T) {
	const variable = "CAGE_TEST_PROJECT"
	project := os.Getenv(variable)
	if project == "" {
		project = t.TempDir()
		fill(t, project, "text", 0o755, "bin/agents", "secret", "out/journal.jsonl")
		t.Setenv(variable, project)
		t.Setenv("PATH", filepath.Join(project, "bin")+":"+os.Getenv("PATH"))
		for _, kind := range []string{"rooms", compiletest.WithoutRooms} {
			t.Run(kind, func(t *testing.T) { compiletest.Again(t, kind) })
		}
		return
	}
	f := newField(t)
	got, _ := shell(t, f.cage, "cat "+project+"/secret "+project+"/bin/agents "+project+"/out/journal.jsonl; ls /opt")
	require.NotContains(t, got, "text")
	opt, _ := os.ReadDir("/opt")
	for _, e := range opt {
		if !strings.Contains(os.Getenv("PATH"), "/opt/"+e.Name()) {
			require.NotContains(t, got, e.Name())
		}
	}
}
