package env_test

import (
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What the chores write into the tree is no part of the module: neither vet nor the tests
// of a tree in which they ran see it.
func TestOutputsAreNoPackages(t *testing.T) {
	root := repository(t, []string{"go.mod", "go.sum"}, nil)
	for _, folder := range strings.Fields("env demo-out demo-out/bin bin runs/BlockBattle-v0 tournament/build/bot match " +
		"history/0_1 rpc/python/build .venv/lib") {
		write(t, filepath.Join(root, folder, "bot.go"), "package main\n")
	}
	require.Equal(t, module+"/env\n", in(t, 0, root, "go", "list", "./..."))
}

// `make test` is everything: no part of it is left to another chore or to CI.
func TestMakeTestIsEverything(t *testing.T) {
	out := in(t, 0, "..", "make", "-n", "test", "JOBS=1")
	for _, part := range []string{
		".ci/setup test", "gofmt -l", "vet ./...", "staticcheck ./...", ".ci/vulncheck",
		"-vet=off -timeout 15m ./train/commands ./...", "test -race", "pytest", "mypy --strict", "ruff check",
		"lint-imports", "agents sign", "-buildmode=c-shared",
	} {
		require.Contains(t, out, part)
	}
	require.Regexp(t, `make demo\n(exec )?make test\n$`, contents(t, ".ci/run"))
}

// repository returns a folder with the Makefile, these of its commands as they are, and stand-ins for other programs.
func repository(t *testing.T, commands []string, programs map[string]string) string {
	root := t.TempDir()
	for _, name := range append([]string{"Makefile"}, commands...) {
		write(t, filepath.Join(root, name), contents(t, name))
	}
	for name, script := range programs {
		write(t, filepath.Join(root, name), "#!/bin/bash\n"+script+"\n")
	}
	return root
}

// write writes a program.
func write(t *testing.T, path, text string) {
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o700))
}

// in runs a command in a folder, whose programs go first, wants an exit status of it, and returns what it printed, without
// times.
func in(t *testing.T, want int, root, name string, args ...string) string {
	cmd := exec.Command(name, args...)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "MAKEFLAGS=", "MAKELEVEL=", "PATH="+root+":"+os.Getenv("PATH"))
	out, err := cmd.CombinedOutput()
	require.Equal(t, want, cmd.ProcessState.ExitCode(), "%s %s: %v\n%s", name, args, err, out)
	return regexp.MustCompile(`\d+ s\b|\d\d:\d\d:\d\d`).ReplaceAllString(string(out), "T")
}

// `make test` prints one line for each part when that ends, and at its end how packages ended and the names of what
// failed. A part that fails keeps no other from running.
func TestPartsOfMakeTest(t *testing.T) {
	root := repository(t, []string{".ci/part", ".ci/failed"}, map[string]string{
		".ci/setup": "", ".ci/vulncheck": "echo vulnerabilities", "agents/signatures.txt": "", "bad": "",
		"go": `if [ $1 = run ]; then cat agents/signatures.txt; exit; fi
			printf 'a lot\nok  \tb/env\t1.2s\n'; [ ! -e bad ] || { cat failing; exit 1; }`,
		"failing": "exit\n--- FAIL: TestStatus (0.02s)\n    --- FAIL: TestStatus/asked (0.01s)\nFAIL\nFAIL\tb/agents/fleet\t0.4s\nFAIL",
	})
	const times = ": T, processor T user and T system"
	printed := in(t, 2, root, "make", "test", "CHECKS=go sign", "JOBS=1", "GO=go")
	require.Regexp(t, `^make test: go sign, .*\nmake go`+times+`: FAILED\nmake\S+ \*\*\*.*\nmake sign`+times+`\n`, printed)
	require.Regexp(t, `(?s)\n== runs/test/go.log\n.*\na lot\n.*\nmake test: failed:\n  go: b/agents/fleet TestStatus TestStatus/asked\n`, printed)
	require.NotContains(t, printed, "vulnerabilities")

	require.NoError(t, os.Remove(filepath.Join(root, "bad")))
	printed = in(t, 0, root, "make", "test", "CHECKS=go sign", "JOBS=1", "GO=go")
	require.Regexp(t, `\nmake go`+times+`\nmake sign`+times+`\nok  \tb/env\t1.2s\nmake test: all of go sign passed\nvulnerabilities\n$`, printed)
}

// `make demo` prints one line a step, and after one that fails its output and its name.
func TestStepsOfMakeDemo(t *testing.T) {
	root := repository(t, []string{".ci/part", ".ci/failed", "train/scripts/demo.sh"}, map[string]string{
		".ci/setup": "", "python": "echo $*", "go": "echo no compiler; exit 3", ".venv/ok": "",
	})
	printed := in(t, 2, root, "make", "demo", "-o", ".venv/ok", "PY=./python", "GO=./go")
	require.Regexp(t, `(?s)\n1 of 5: a policy.*: T, processor T user and T system\n2 of 5: .*: FAILED\n\n== demo-out/steps/selfplay.log\n`+
		`no compiler\n\nmake demo: failed:\n  selfplay: see demo-out/steps/selfplay.log\n`, printed)
	require.Contains(t, contents(t, filepath.Join(root, "demo-out/steps/policy.log")), "demo_policy.py --transport socket")
}

// `make quick` runs packages in short form, without those whose tests need compilers or browsers.
func TestMakeQuick(t *testing.T) {
	root := repository(t, nil, map[string]string{
		"go": `if [ $1 = list ]; then
			printf '%s\n' 'fmt x/webtest x/viewer' 'x/compiletest fmt x/c' 'fmt blockyard/env/vec' 'fmt blockyard/env'; else echo "$*"; fi`,
		"python": `echo "$*"`, ".venv/test": "",
	})
	printed := in(t, 0, root, "make", "-s", "quick", "-o", ".venv/test", "PY=./python", "GO=./go")
	require.Regexp(t, `(?m)^test -p \d+ -vet=off -short blockyard/env/vec\n-m pytest .*=rpc/python/tests/traps .*rpc/python/tests$`, printed)
}

// The names of what failed are found in what go test and pytest print.
func TestNamesOfWhatFailed(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	for text, want := range map[string]string{
		"FAIL\tb/env [build failed]\n": "b/env [build failed]\n",
		"panic: test timed out after 1m0s\n\trunning tests:\n\t\tTestA (59s)\nFAIL\tb/env\t60s\n":                "b/env TestA\n",
		"FAILED tests/test_a.py::test_b[1 - 2] - assert 1 == 2\nERROR tests/test_c.py - OSError\n1 failed in 2s": "tests/test_a.py::test_b[1 - 2]\ntests/test_c.py\n",
	} {
		write(t, log, text)
		require.Equal(t, want, in(t, 0, "..", ".ci/failed", log), text)
	}
}

// `make flaky` runs each package with the seeds 1, 2, ..., names what failed with its seed and the command that runs
// it again, and goes on with the first run that is missing. A package that has changed begins again. Processes of a test
// are stopped.
func TestFlaky(t *testing.T) {
	// The program of the tests of b ends when it goes on after a stop; that of a fails with seed 2, and
	// interrupts the first run with seed 3, as Ctrl-C does.
	root := repository(t, []string{".ci/flaky", ".ci/failed"}, map[string]string{
		"go": `if [ $1 = list ]; then echo $PWD/a $PWD/b; else
			for last; do :; done; while [ $1 != -o ]; do shift; done; cp $last/program $2; fi`,
		"git": "echo 1234567",
		"a/program": `echo "$*"; [ $1 != -test.shuffle=2 ] || { echo '--- FAIL: TestA (0.0s)'; exit 1; }
			[ $1 != -test.shuffle=3 ] || [ -e again ] || { touch again; kill -INT $PPID; sleep 100; }`,
		"b/program":             `trap 'exit 0' CONT; while :; do sleep 0.02; done`,
		"python":                `echo "$*" >python.log`,
		"rpc/python/tests/x.py": "",
	})
	flaky := func(args string, want int, says ...string) {
		printed := in(t, want, root, "python3", strings.Fields(".ci/flaky --python ./python --loops 1 "+args)...)
		for _, text := range says {
			require.Contains(t, printed, text)
		}
	}
	flaky("--runs 1", 0, ": a, seed 1: passed, T\n", ": b, seed 1: passed, T\n", ": rpc/python/tests, seed 1: passed, T\n", "\nT 3 of 3: ")
	require.Regexp(t, `-m pytest .*-n 2 --shuffle 1 rpc/python/tests\n$`, contents(t, root+"/python.log"))
	flaky("--runs 2 --only a", 1, "T 1 of 1: a, seed 2: FAILED: TestA, T\nfailed: TestA\n",
		"runs/flaky/a-2.log\n  again: make flaky ONLY=a SEED=2\nflaky: 1 of 2 runs failed\n")
	require.Contains(t, contents(t, root+"/runs/flaky/a-2.log"), "-test.shuffle=2 -test.cpu=1,2 ")
	flaky("--runs 2 --only a", 1, "flaky: 0 runs of 2 to do")
	flaky("--runs 3 --only a", 130, "flaky: stopped; the same command goes on from here\n")
	flaky("--runs 3 --only a", 1, "T 1 of 1: a, seed 3: passed, T\nfailed: TestA\n")
	flaky("--seed 2 --only a", 1, "T 1 of 1: a, seed 2: FAILED: TestA, T\n")
	write(t, filepath.Join(root, "git"), "#!/bin/sh\necho 89abcde\n")
	flaky("--runs 1 --only a", 0, "T 1 of 1: a, seed 1: passed, T\nflaky: 0 of 1 runs failed\n")
	flaky("--only c", 2, "--only c: no package with tests lies there")
}

// Every target that is declared or named in a document has a recipe.
func TestTargetsExist(t *testing.T) {
	text := contents(t, "Makefile")
	recipes := strings.Fields(strings.Join(regexp.MustCompile(`(?m)^[a-z -]+:`).FindAllString(text, -1), " "))
	named := regexp.MustCompile("(?m)(?:`|^ +)make ([a-z-]+)")
	holds(t, func(all []source) (out []string) {
		for _, f := range all {
			for _, m := range named.FindAllStringSubmatch(f.text, -1) {
				if path.Ext(f.path) == ".md" && !slices.Contains(recipes, m[1]+":") {
					out = append(out, f.path+": the Makefile has no `make "+m[1]+"`")
				}
			}
		}
		return out
	}, trial{"a.md", "run `make test`", ""}, trial{"a.md", "    make tests", "a.md: the Makefile has no `make tests`"})
	declared := regexp.MustCompile(`(?m)^\.PHONY: (.*)$`).FindStringSubmatch(text)[1]
	require.Subset(t, recipes, strings.Split(strings.ReplaceAll(declared, " ", ": ")+":", " "))
}

// What the tests need of a machine is found on PATH before they run, and installed or named.
func TestSetup(t *testing.T) {
	const install = "apt-get install -y --no-install-recommends "
	// What says is an expression; nothing is printed without one.
	for name, c := range map[string]struct{ missing, user, goal, says, installs string }{
		"nothing missing": {"", "1000", "test", "", ""},
		"no browser, an ordinary user": {"chromium", "1000", "test",
			"missing: Chromium.*sudo " + install + "chromium-headless-shell fonts-dejavu-core\n", ""},
		"no browser, root": {"chromium", "0", "test", "installing Chromium",
			install + "chromium-headless-shell fonts-dejavu-core -q\n"},
		"nothing to compile or contain, CI": {"cc c++ javac bwrap", "1000 CI=true", "test",
			`installing a C compiler.*installing a C\+\+ compiler.*installing a JDK.*installing bubblewrap`,
			install + "gcc libc6-dev g++ default-jdk-headless bubblewrap util-linux -q\n"},
		"no package manager":     {"c++ apt-get", "0", "test", `missing: a C\+\+ compiler.*make test again`, ""},
		"no Go":                  {"go", "0", "test", `Go is missing.*https://go\.dev/dl`, ""},
		"no Python for the demo": {"python3", "1000", "demo", `missing: Python 3\.10.*python3-venv`, ""},
		"the demo needs less":    {"chromium cc c++ javac bwrap", "1000", "demo", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			bin, log := t.TempDir(), filepath.Join(t.TempDir(), "log")
			id, settings, _ := strings.Cut(c.user, " ")
			for _, program := range []string{"bash", "dirname", "env"} {
				file, err := exec.LookPath(program)
				require.NoError(t, err)
				require.NoError(t, os.Symlink(file, filepath.Join(bin, program)))
			}
			write(t, log, "")
			scripts := map[string]string{"id": "echo " + id}
			for _, program := range strings.Fields("apt-get sudo") {
				scripts[program] = "echo " + program + ` "$*" >>` + log
			}
			for _, program := range strings.Fields("go python3 cc c++ javac chromium bwrap setpriv apt-get sudo id") {
				if !fits(program, c.missing) {
					write(t, filepath.Join(bin, program), "#!/bin/sh\n"+scripts[program])
				}
			}
			status := 0
			if strings.Contains(c.says, "missing") {
				status = 1
			}
			printed := in(t, status, "..", "env", strings.Fields("-i PATH="+bin+" "+settings+" .ci/setup "+c.goal)...)
			require.Regexp(t, "(?s)"+c.says, printed)
			require.Equal(t, c.says == "", printed == "", printed)
			installed := contents(t, log)
			require.Contains(t, installed, c.installs)
			require.Equal(t, c.installs == "", installed == "", installed)
		})
	}
}
