package compile

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"blockyard/agents/contest"
	"blockyard/agents/contest/compile/compiletest"
	"blockyard/env/envtest"

	"github.com/stretchr/testify/require"
)

// sources are programs that answer a line with "hello", by the name of their file.
var sources = map[string]string{
	"hello.py":   "input(); print('hello', flush=True)\n",
	"hello.js":   "process.stdin.once('data', () => { console.log('hello'); process.exit(); });\n",
	"hello.go":   "package main\n\nimport \"fmt\"\n\nfunc main() { fmt.Scanln(); fmt.Println(\"hello\") }\n",
	"hello.c":    "#include <stdio.h>\nint main(void) { getchar(); puts(\"hello\"); fflush(stdout); return 0; }\n",
	"hello.cpp":  "#include <cstdio>\nint main() { std::getchar(); std::puts(\"hello\"); std::fflush(stdout); }\n",
	"Hello.java": "package a.b;\nclass Hello { public static void main(String[] x) throws Exception { System.in.read(); System.out.println(\"hello\"); } }\n",
	"hello.rs":   "fn main() { let mut s = String::new(); std::io::stdin().read_line(&mut s).unwrap(); println!(\"hello\"); }\n",
	"hello.cs":   "class Hello { static void Main() { System.Console.ReadLine(); System.Console.WriteLine(\"hello\"); } }\n",
}

// toolOf is the program that a test needs for the language of a file.
var toolOf = map[string]string{".py": "python3", ".js": "node", ".go": "go", ".c": "cc", ".cpp": "c++", ".java": "javac",
	".rs": "rustc", ".cs": "mcs"}

// TestLanguages compiles a program of every language whose compiler is here, and asks it. One has a name that is longer
// than a file may have with the endings that compilers add.
func TestLanguages(t *testing.T) {
	files := maps.Clone(sources)
	files[strings.Repeat("x", 250)+".py"] = sources["hello.py"]
	built := 0
	for name, text := range files {
		bot, err := submit(t, envtest.File(t, name, text))
		if _, missing := exec.LookPath(toolOf[filepath.Ext(name)]); missing != nil {
			require.ErrorContains(t, err, "which this machine does not have")
			continue
		}
		require.NoError(t, err, name)
		require.NotEmpty(t, bot.Language)
		requireHello(t, bot)
		built++
	}
	require.GreaterOrEqual(t, built, 5, "Python, Go, C and C++ are needed for the tests anyway")
}

// submit makes a bot of a submission in a new folder, within the usual limits.
func submit(t *testing.T, path string) (Bot, error) {
	return Submission(t.Context(), path, filepath.Join(t.TempDir(), "b"), contest.Uploads{}, Default)
}

// requireHello requires that a bot answers.
func requireHello(t *testing.T, bot Bot) {
	t.Helper()
	p := envtest.Must(bot.Program.Start(func(line string) { t.Log(line) }))
	line, _, _, err := p.Ask(t.Context(), []string{"x"}, time.Minute)
	require.NoError(t, err, p.Odd(err))
	require.Equal(t, "hello", line)
	require.NoError(t, p.Close())
}

// requireRefusal requires that a submission is refused in one line, which names the page on which authors read what to do.
func requireRefusal(t *testing.T, err error, want string) {
	require.ErrorAs(t, err, new(*Refusal))
	require.ErrorContains(t, err, want)
	require.NotRegexp(t, `[[:cntrl:]]`, err.Error())
	require.Less(t, len(err.Error()), 2*mostReason)
	require.ErrorContains(t, err, "; see agents/SUBMISSIONS.md")
}

// TestJavaKeepsItsLogOffTheAnswers: what the JVM has to say does not reach standard output.
func TestJavaKeepsItsLogOffTheAnswers(t *testing.T) {
	if _, err := exec.LookPath("javac"); err != nil {
		t.Skip(err)
	}
	bot := envtest.Must(submit(t, envtest.File(t, "Hello.java", sources["Hello.java"])))
	t.Setenv("JAVA_TOOL_OPTIONS", "-Xlog:gc*=info:stdout") // comes before the options of the command
	requireHello(t, bot)
}

// TestRuntimesKnowTheirMemory: what takes its heap from the memory of the machine is told what it may use.
func TestRuntimesKnowTheirMemory(t *testing.T) {
	bots := map[string]string{
		"shell": zipped(t, "bot.toml", "run = \"./bot\"\n", "bot", "#!/bin/sh\nread x\nfor v in \"$JAVA_TOOL_OPTIONS\" \"$DOTNET_GCHeapHardLimit\" "+
			"\"$MONO_GC_PARAMS\" \"$NODE_OPTIONS\" \"$GOMEMLIMIT\"; do [ \"$v\" ] || echo unset; done\necho hello\n"),
		"go": envtest.File(t, "bot.go", "package main\n\nimport (\n\t\"fmt\"\n\t\"runtime/debug\"\n)\n\nfunc main() {\n\tfmt.Scanln()\n"+
			"\tif n := debug.SetMemoryLimit(-1); n > 256<<20 {\n\t\tfmt.Println(n)\n\t}\n\tfmt.Println(\"hello\")\n}\n"),
	}
	if _, err := exec.LookPath("javac"); err == nil {
		bots["Java"] = envtest.File(t, "Hello.java", "class Hello { public static void main(String[] x) throws Exception { System.in.read(); "+
			"long n = Runtime.getRuntime().maxMemory(); System.out.println(n > 256 << 20 ? \"\" + n : \"hello\"); } }\n")
	}
	for name, path := range bots {
		bot, err := submit(t, path)
		require.NoError(t, err, name)
		bot.Program.Memory = 256 << 20
		requireHello(t, bot)
	}
}

func TestCompileErrorsAreForTheAuthor(t *testing.T) {
	for name, want := range map[string]string{
		"bad.py":  "does not compile: python",
		"bad.go":  "does not compile: go: ",
		"bad.c":   "does not compile: cc: bad.c:1",
		"bad.cpp": "does not compile: c++: bad.cpp:1",
	} {
		_, err := submit(t, envtest.File(t, name, "int main( {\n"))
		requireRefusal(t, err, want)
		require.NotEmpty(t, err.(*Refusal).Output)
	}
	var h head
	envtest.Must(io.Copy(&h, io.LimitReader(strings.NewReader(strings.Repeat("x", 1<<20)), 1<<20))) // as the output of a tool comes
	require.Equal(t, maxOutput, h.kept.Len())
}

// unpacked unpacks a submission as its contained process does, and returns the folder.
func unpacked(t *testing.T, name, text string, l Limits) (string, error) {
	var in bytes.Buffer
	require.NoError(t, pack(envtest.File(t, name, text), &in, false))
	into := filepath.Join(t.TempDir(), "deep", "into")
	require.NoError(t, os.MkdirAll(into, 0o755))
	return into, unpack(t.Context(), &order{Name: name, Limits: l}, &in, into)
}

func TestLimits(t *testing.T) {
	l := Default
	l.Size, l.Files = 1000, 3
	large := strings.Repeat("x", 5000)
	_, err := Submission(t.Context(), envtest.File(t, "a.py", large), t.TempDir(), contest.Uploads{}, l)
	requireRefusal(t, err, "5000 bytes, want at most 1000")
	for want, u := range map[string]struct{ name, text string }{
		"leads out of the archive":           {"a.zip", compiletest.Zip(t, "../../evil.py", "x")},
		"more than 1000 bytes when unpacked": {"a.zip", compiletest.Zip(t, "a.py", large)},
		"not a zip archive":                  {"a.zip", "no"},
		"not a gzip archive":                 {"a.tgz", "no"},
		"the archive is damaged":             {"cut.tgz", tarred(t, "a.py", strings.Repeat("abc", 300))[:60]},
		"more than 3 files":                  {"a.zip", compiletest.Zip(t, "a.py", "", "b.py", "", "c.py", "", "d.py", "")},
	} {
		_, err := unpacked(t, u.name, u.text, l)
		require.ErrorAs(t, err, new(*Refusal))
		require.ErrorContains(t, err, want)
	}
	l = Default
	l.Time = 300 * time.Millisecond
	slow := "package main\n\nimport _ \"net/http\"\n\nfunc main() {}\n"
	t.Setenv("GOCACHE", t.TempDir())
	talks := zipped(t, "bot.toml", "build = \"echo a.c:1: error: x; exec sleep 1000\"\nrun = \"./bot\"\n", "bot", "#!/bin/sh\n")
	for _, path := range []string{envtest.File(t, "slow.go", slow), talks} { // whatever the tool has said before
		err := envtest.Failed(Submission(t.Context(), path, t.TempDir(), contest.Uploads{}, l))
		require.ErrorContains(t, err, "it takes more than 300ms")
	}
}

func TestNames(t *testing.T) {
	for path, want := range map[string]string{"x/my bot.tar.gz": "my bot", "a.zip": "a", "dir": "dir", ".py": ".py", "b.tgz": "b"} {
		require.Equal(t, want, Name(path))
	}
	require.False(t, Is("hello"))
	require.True(t, Is(envtest.File(t, "a.py", "")))
	require.True(t, Is(t.TempDir()))
}

// zipped writes a zip archive of files, given as names and texts in turn.
func zipped(t *testing.T, files ...string) string {
	return envtest.File(t, "bot.zip", compiletest.Zip(t, files...))
}

// tarred is a .tar.gz archive with a link and a file.
func tarred(t testing.TB, name, text string) string {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	require.NoError(t, w.WriteHeader(&tar.Header{Name: "link.py", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"}))
	require.NoError(t, w.WriteHeader(&tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: 0o600, Size: int64(len(text))}))
	_, err := w.Write([]byte(text))
	require.NoError(t, errors.Join(err, w.Close()))
	return string(envtest.Gzip(b.String()))
}

// FuzzUnpack: no archive writes outside of its folder, or more than the limits.
func FuzzUnpack(f *testing.F) {
	f.Add([]byte("PK"), true)
	for _, name := range []string{"bot.py", "../bot.py", `..\bot.py`, "/bot.py", "a/b/c.py", "a/./../../x", ""} {
		f.Add([]byte(compiletest.Zip(f, name, "print()")), true)
		f.Add([]byte(tarred(f, name, "print()")), false)
	}
	f.Fuzz(func(t *testing.T, text []byte, zip bool) {
		limits := Limits{Size: 1 << 16, Files: 10}
		into, err := unpacked(t, map[bool]string{true: "a.zip", false: "a.tgz"}[zip], string(text), limits)
		list, listed := os.ReadDir(filepath.Dir(filepath.Dir(into)))
		require.NoError(t, listed)
		require.Len(t, list, 1, "nothing beside the folder")
		files, size := 0, int64(0)
		require.NoError(t, filepath.WalkDir(filepath.Dir(into), func(_ string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			require.True(t, d.Type().IsRegular())
			info, err := d.Info()
			files, size = files+1, size+info.Size()
			return err
		}))
		require.LessOrEqual(t, files, limits.Files)
		require.LessOrEqual(t, size, limits.Size+1)
		if err != nil {
			require.ErrorAs(t, err, new(*Refusal))
		}
	})
}
