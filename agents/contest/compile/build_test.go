package compile

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"blockyard/agents/contest"
	"blockyard/agents/contest/compile/compiletest"

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

// TestLanguages compiles a program of every language whose compiler is here, alone and in an archive of one kind or the
// other, and asks it.
func TestLanguages(t *testing.T) {
	built := 0
	for k, name := range slices.Sorted(maps.Keys(sources)) {
		text := sources[name]
		archive := zipped(t, name, text)
		if k%2 == 1 {
			archive = tarred(t, "bot/"+name, text)
		}
		for _, file := range []string{write(t, name, text), archive} {
			bot, err := Submission(context.Background(), file, filepath.Join(t.TempDir(), "b"), contest.Uploads{}, Default)
			if _, missing := exec.LookPath(toolOf[filepath.Ext(name)]); missing != nil {
				require.ErrorContains(t, err, "which this machine does not have")
				continue
			}
			require.NoError(t, err, name)
			require.NotEmpty(t, bot.Language)
			p, err := bot.Program.Start(nil)
			require.NoError(t, err)
			line, _, _, err := p.Ask(context.Background(), []string{"x"}, time.Minute)
			require.NoError(t, err, file)
			require.Equal(t, "hello", line)
			require.NoError(t, p.Close())
			built++
		}
	}
	require.GreaterOrEqual(t, built, 2*4, "Python, Go, C and C++ are needed for the tests anyway")
}

// TestLongNamesOfSources: compilers add endings to the name of a file.
func TestLongNamesOfSources(t *testing.T) {
	long := strings.Repeat("x", 250) + ".py"
	_, err := Submission(t.Context(), write(t, long, sources["hello.py"]), filepath.Join(t.TempDir(), "b"), contest.Uploads{}, Default)
	require.NoError(t, err)
}

// TestJavaKeepsItsLogOffTheAnswers: what the JVM has to say does not reach standard output.
func TestJavaKeepsItsLogOffTheAnswers(t *testing.T) {
	if _, err := exec.LookPath("javac"); err != nil {
		t.Skip(err)
	}
	bot, err := Submission(t.Context(), write(t, "Hello.java", sources["Hello.java"]), filepath.Join(t.TempDir(), "b"), contest.Uploads{}, Default)
	require.NoError(t, err)
	t.Setenv("JAVA_TOOL_OPTIONS", "-Xlog:gc*=info:stdout") // comes before the options of the command
	p, err := bot.Program.Start(nil)
	require.NoError(t, err)
	line, _, _, err := p.Ask(t.Context(), []string{"x"}, time.Minute)
	require.NoError(t, err)
	require.Equal(t, "hello", line)
	require.NoError(t, p.Close())
}

// TestRuntimesKnowTheirMemory: what takes its heap from the memory of the machine is told what it may use.
func TestRuntimesKnowTheirMemory(t *testing.T) {
	bots := map[string]string{
		"shell": zipped(t, "bot.toml", "run = \"./bot\"\n", "bot", "#!/bin/sh\nread x\nfor v in \"$JAVA_TOOL_OPTIONS\" \"$DOTNET_GCHeapHardLimit\" "+
			"\"$MONO_GC_PARAMS\" \"$NODE_OPTIONS\" \"$GOMEMLIMIT\"; do [ \"$v\" ] || echo unset; done\necho hello\n"),
		"go": write(t, "bot.go", "package main\n\nimport (\n\t\"fmt\"\n\t\"runtime/debug\"\n)\n\nfunc main() {\n\tfmt.Scanln()\n"+
			"\tif n := debug.SetMemoryLimit(-1); n > 256<<20 {\n\t\tfmt.Println(n)\n\t}\n\tfmt.Println(\"hello\")\n}\n"),
	}
	if _, err := exec.LookPath("javac"); err == nil {
		bots["Java"] = write(t, "Hello.java", "class Hello { public static void main(String[] x) throws Exception { System.in.read(); "+
			"long n = Runtime.getRuntime().maxMemory(); System.out.println(n > 256 << 20 ? \"\" + n : \"hello\"); } }\n")
	}
	for name, path := range bots {
		bot, err := Submission(t.Context(), path, filepath.Join(t.TempDir(), "b"), contest.Uploads{}, Default)
		require.NoError(t, err, name)
		bot.Program.Memory = 256 << 20
		p, err := bot.Program.Start(func(line string) { t.Error(name, line) })
		require.NoError(t, err)
		line, _, _, err := p.Ask(t.Context(), []string{"x"}, time.Minute)
		require.NoError(t, err, p.Odd(err))
		require.Equal(t, "hello", line, name)
		require.NoError(t, p.Close())
	}
}

func TestCompileErrorsAreForTheAuthor(t *testing.T) {
	for name, want := range map[string]string{
		"bad.py":  "does not compile: python",
		"bad.go":  "does not compile: go: ",
		"bad.c":   "does not compile: cc: bad.c:1",
		"bad.cpp": "does not compile: c++: bad.cpp:1",
	} {
		_, err := Submission(context.Background(), write(t, name, "int main( {\n"), filepath.Join(t.TempDir(), "b"), contest.Uploads{}, Default)
		var refusal *Refusal
		require.ErrorAs(t, err, &refusal, name)
		require.Contains(t, refusal.Why, want)
		require.NotContains(t, refusal.Why, "\n")
		require.NotEmpty(t, refusal.Output)
	}
}

func TestLimits(t *testing.T) {
	l := Default
	l.Size, l.Files = 1000, 3
	for why, path := range map[string]string{
		"leads out of the archive":           zipped(t, "../../evil.py", "x"),
		"more than 1000 bytes when unpacked": zipped(t, "a.py", strings.Repeat("x", 5000)),
		"not a zip archive":                  write(t, "a.zip", "no"),
		"not a gzip archive":                 write(t, "a.tgz", "no"),
		"5000 bytes, want at most 1000":      write(t, "a.py", strings.Repeat("x", 5000)),
		"holds no source file":               write(t, "readme.zip", string(read(t, zipped(t, "readme.txt", "x")))),
		"the archive is damaged":             write(t, "cut.tgz", string(read(t, tarred(t, "a.py", strings.Repeat("abc", 300)))[:60])),
		"2 of its 2 source files can be the": zipped(t, "a.py", "__name__ == '__main__'", "b.py", "__name__ == '__main__'"),
		"more than 3 files":                  zipped(t, "a.py", "", "b.py", "", "c.py", "", "d.py", ""),
	} {
		_, err := Submission(context.Background(), path, filepath.Join(t.TempDir(), "b"), contest.Uploads{}, l)
		require.ErrorContains(t, err, why)
		require.IsType(t, &Refusal{}, err)
	}
	l = Default
	l.Time = 300 * time.Millisecond
	slow := "package main\n\nimport _ \"net/http\"\n\nfunc main() {}\n"
	t.Setenv("GOCACHE", t.TempDir())
	talks := zipped(t, "bot.toml", "build = \"echo a.c:1: error: x; exec sleep 1000\"\nrun = \"./bot\"\n", "bot", "#!/bin/sh\n")
	for _, path := range []string{write(t, "slow.go", slow), talks} { // whatever the tool has said before
		_, err := Submission(context.Background(), path, filepath.Join(t.TempDir(), "b"), contest.Uploads{}, l)
		require.ErrorContains(t, err, "it takes more than 300ms")
	}
}

func TestNames(t *testing.T) {
	for path, want := range map[string]string{"x/my bot.tar.gz": "my bot", "a.zip": "a", "dir": "dir", ".py": ".py", "b.tgz": "b"} {
		require.Equal(t, want, Name(path))
	}
	require.False(t, Is("hello"))
	require.True(t, Is(write(t, "a.py", "")))
	require.True(t, Is(t.TempDir()))
}

func write(t *testing.T, name, text string) string {
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	return path
}

func read(t *testing.T, path string) []byte {
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return text
}

// zipped writes a zip archive of files, given as names and texts in turn.
func zipped(t *testing.T, files ...string) string {
	return write(t, "bot.zip", compiletest.Zip(t, files...))
}

func tarred(t *testing.T, name, text string) string {
	var b bytes.Buffer
	g := gzip.NewWriter(&b)
	w := tar.NewWriter(g)
	require.NoError(t, w.WriteHeader(&tar.Header{Name: "link.py", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"}))
	require.NoError(t, w.WriteHeader(&tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: 0o600, Size: int64(len(text))}))
	_, err := w.Write([]byte(text))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	require.NoError(t, g.Close())
	return write(t, "bot.tar.gz", b.String())
}

// FuzzUnpack: no archive writes outside of its folder, or more than the limits.
func FuzzUnpack(f *testing.F) {
	f.Add([]byte("PK"), true)
	for _, name := range []string{"bot.py", "../bot.py", `..\bot.py`, "/bot.py", "a/b/c.py", "a/./../../x", ""} {
		f.Add(archived(f, true, name), true)
		f.Add(archived(f, false, name), false)
	}
	f.Fuzz(func(t *testing.T, text []byte, zip bool) {
		dir := t.TempDir()
		name := map[bool]string{true: "a.zip", false: "a.tgz"}[zip]
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), text, 0o644))
		into := filepath.Join(dir, "deep", "into")
		require.NoError(t, os.MkdirAll(into, 0o755))
		limits := Limits{Size: 1 << 16, Files: 10}
		var in bytes.Buffer
		require.NoError(t, pack(filepath.Join(dir, name), &in, false))
		err := unpack(t.Context(), &order{Name: name, Limits: limits}, &in, into)
		list, listed := os.ReadDir(dir)
		require.NoError(t, listed)
		require.Len(t, list, 2, "nothing beside the archive and the folder")
		files, size := 0, int64(0)
		require.NoError(t, filepath.WalkDir(filepath.Join(dir, "deep"), func(_ string, d fs.DirEntry, err error) error {
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

// archived is an archive with a file of this name.
func archived(f *testing.F, zipped bool, name string) []byte {
	var b bytes.Buffer
	const text = "print()"
	if zipped {
		return []byte(compiletest.Zip(f, name, text))
	}
	g := gzip.NewWriter(&b)
	w := tar.NewWriter(g)
	require.NoError(f, w.WriteHeader(&tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: 0o600, Size: int64(len(text))}))
	_, err := w.Write([]byte(text))
	require.NoError(f, errors.Join(err, w.Close(), g.Close()))
	return b.Bytes()
}
