package compile

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"blockyard/agents/contest"
	"blockyard/agents/contest/cage"
	"blockyard/agents/contest/compile/compiletest"
	"blockyard/env/envtest"
)

func TestMain(m *testing.M) { compiletest.Run(m) }

// hang is how long a test waits for what takes a moment.
const hang = 2 * time.Minute

// number is a number as headers of 7-Zip have it.
func number(n uint64) []byte { return binary.LittleEndian.AppendUint64([]byte{0xff}, n) }

// sixes is a tar.xz with main.py whose header says that its dictionary has 4 GiB.
func sixes() string {
	const made = "/Td6WFoAAATm1rRGAgAhAQgAAADYDyMT4Cf/AF9dADaYSXKFArxuPELe2oS/rJr1tRGbQDIKKvVFqr/NLINrPaTeZN6PekQTps0S" +
		"CN1Dxexhnh0+GO+L11jwTh9eK36hWfOdM4W8D432LVOgCGe/ZstgePVjqn4Q2w2dcDoAAABC97CPKvrPOAABe4BQAAAA75Zb2LHEZ/sCAAAAAARZWg=="
	text := envtest.Must(base64.StdEncoding.DecodeString(made))
	at := bytes.Index(text, []byte("\x21\x01")) + 2
	text[at] = 40
	size := (int(text[12]) + 1) * 4
	binary.LittleEndian.PutUint32(text[12+size-4:], crc32.ChecksumIEEE(text[12:12+size-4]))
	return string(text)
}

// TestBombs: small submissions that are large, deep or damaged inside are refused, within bounds of time and memory, and
// the process that takes them goes on. Each has ended one, or made it search for minutes.
func TestBombs(t *testing.T) {
	deep := func(text string) string { return compiletest.Zip(t, "bot.toml", text, "main.py", "") }
	folders := make([]string, 0, 400_000)
	for k := range 200_000 {
		folders = append(folders, fmt.Sprintf("d%d/", k), "")
	}
	records := map[string]string{}
	for k := range 5000 {
		records[fmt.Sprintf("TEST.k%d", k)] = strings.Repeat("v", 100)
	}
	for name, text := range map[string]string{
		"size.7z":       compiletest.Seven(append(append([]byte{1, 5}, number(1<<62)...), 0, 0)),
		"memory.7z":     compiletest.Seven(append(append([]byte{1, 5}, number(1<<34)...), 0, 0)),
		"memory2.7z":    compiletest.Seven(append(append([]byte{1, 5}, number(1<<27)...), 0, 0)),
		"folders.7z":    compiletest.Seven(append(append([]byte{1, 4, 7, 0xb}, number(1<<62)...), 0, 0, 0)),
		"packed.7z":     compiletest.Seven(append(append(append([]byte{1, 4, 6}, number(0)...), number(1<<62)...), 9, 0, 0, 0)),
		"coders.7z":     compiletest.Seven(append(append([]byte{1, 4, 7, 0xb, 1, 0}, number(1<<62)...), 0, 0, 0)),
		"properties.7z": compiletest.Seven(append(append([]byte{1, 4, 7, 0xb, 1, 0, 1, 0x21, 0x21}, number(1<<62)...), 0, 0, 0)),
		"lists.zip":     deep("run = " + strings.Repeat("[", 28_000_000)),
		"tables.zip":    deep("run = " + strings.Repeat("{a=", 9_000_000)),
		"keys.zip":      deep("[" + strings.Repeat("a.", 7_000_000) + "a]\n"),
		"lists2.zip":    deep("run = " + strings.Repeat("[", mostBotFile-10)),
		"tables2.zip":   deep("run = " + strings.Repeat("{a=", mostBotFile/3-10)),
		"keys2.zip":     deep("[" + strings.Repeat("a.", mostBotFile/2-10) + "a]\n"),
		"dict.tar.xz":   sixes(),
		"deep.tar":      tarOf(t, &tar.Header{Name: strings.Repeat(strings.Repeat("d", 100)+"/", 300) + "main.py", Mode: 0o644}),
		"records.tar":   tarOf(t, &tar.Header{Name: "main.txt", Mode: 0o644, Format: tar.FormatPAX, PAXRecords: records}),
		"folders.zip":   compiletest.Zip(t, folders...),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := submit(t, envtest.File(t, name, text))
			requireRefusal(t, err, "")
		})
	}
}

// tarOf returns an archive of files without texts.
func tarOf(t *testing.T, heads ...*tar.Header) string {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, h := range heads {
		require.NoError(t, w.WriteHeader(h))
	}
	require.NoError(t, w.Close())
	return b.String()
}

// TestScansEnd: finding the language and the file to start takes time in proportion to the size of a submission, within
// the time to build, and ends at once with the context.
func TestScansEnd(t *testing.T) {
	var many []string
	for k := range 990 {
		many = append(many, fmt.Sprintf("m%d.py", k), strings.Repeat(fmt.Sprintf("import m%d, x%d\n", k+1, k), 8<<10/18))
	}
	imports := "package main\n\n/*\n" + strings.Repeat("import \"a\"\n", 2_800_000) + "*/\nfunc main() {}\n"
	late := Default
	late.Time = time.Millisecond
	for name, path := range map[string]string{
		"files that import each other":  zipped(t, many...),
		"a file with millions of words": envtest.File(t, "main.go", imports),
	} {
		_, err := Submission(t.Context(), path, t.TempDir(), contest.Uploads{}, late)
		require.ErrorAs(t, err, new(*Refusal), name)
		_, err = Submission(envtest.Stopped(t), path, t.TempDir(), contest.Uploads{}, Default)
		require.ErrorIs(t, err, context.Canceled, name)
	}
	// Of as many files in a language that is not compiled, the one to start is found in time.
	for k := 0; k < len(many); k += 2 {
		many[k] = strings.Replace(many[k], ".py", ".pl", 1)
		many[k+1] = strings.ReplaceAll(many[k+1], "import ", "use ")
	}
	require.ErrorContains(t, envtest.Failed(submit(t, zipped(t, many...))), "does not compile: perl: ", "it is not late")
}

// TestCancelEndsABuild: what a build has started ends with the context, however busy it is.
func TestCancelEndsABuild(t *testing.T) {
	nap := fmt.Sprintf("605.%d", time.Now().UnixNano())
	dir := folder(t, "setsid sleep "+nap+" & sleep "+nap+" & while :; do :; done", "cat")
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := Submission(ctx, dir, t.TempDir(), contest.Uploads{}, Default)
		ended <- err
	}()
	require.Eventually(t, func() bool { return len(compiletest.Running("sleep", nap)) > 0 }, hang, 10*time.Millisecond)
	cancel()
	require.ErrorIs(t, <-ended, context.Canceled)
	require.Empty(t, compiletest.Running("sleep", nap))
}

// folder returns a submission whose build is a script of sh, and how it is started. INSIDE stands in the script for the
// process that builds it.
func folder(t *testing.T, script, run string) string {
	dir := filepath.Join(t.TempDir(), "theirs")
	require.NoError(t, os.MkdirAll(dir, 0o755))
	for name, text := range map[string]string{"bot.toml": fmt.Sprintf("build = \"sh attack\"\nrun = %q\n", run),
		"attack": strings.ReplaceAll(script, "INSIDE", "$PPID")} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	return dir
}

// An answering is what a process says in the place of its answer, with the files of a bot, and why that is refused; "" if
// the bot is taken.
type answering struct {
	answer
	files []*tar.Header
	want  string
}

// text is what the process writes.
func (a *answering) text(t *testing.T) string {
	return string(envtest.Must(json.Marshal(message{Answer: &a.answer}))) + "\n" + tarOf(t, a.files...)
}

// TestForgedAnswers: all that the process which reads a submission can say leads nowhere, and the fault is its author's.
func TestForgedAnswers(t *testing.T) {
	file := func(name string) *tar.Header { return &tar.Header{Name: name, Mode: 0o6777} }
	link := func(name, to string) *tar.Header {
		return &tar.Header{Name: name, Typeflag: tar.TypeSymlink, Linkname: to}
	}
	cat := answer{Argv: []string{"cat"}, Dir: "."}
	for name, a := range map[string]answering{
		"no command":          {answer{Language: "x"}, nil, "what cannot be started"},
		"a folder outside":    {answer{Argv: []string{"cat"}, Dir: "../../x"}, nil, "what cannot be started"},
		"an absolute folder":  {answer{Argv: []string{"cat"}, Dir: "/etc"}, nil, "what cannot be started"},
		"a NUL":               {answer{Argv: []string{"cat\x00x"}, Dir: "."}, nil, "what cannot be started"},
		"a NUL in the folder": {answer{Argv: []string{"cat"}, Dir: "a\x00"}, nil, "what cannot be started"},
		"a long command":      {answer{Argv: []string{"cat", strings.Repeat("x", 50_000)}, Dir: "."}, nil, "what cannot be started"},
		"a file outside":      {cat, []*tar.Header{file("../left")}, `its build leaves a file "../left"`},
		"an absolute file":    {cat, []*tar.Header{file("/left")}, `its build leaves a file "/left"`},
		"a file twice":        {cat, []*tar.Header{file("a"), file("a")}, `its build leaves a file "a": file exists`},
		"a file below a file": {cat, []*tar.Header{file("a"), file("a/b")}, `its build leaves a file "a/b"`},
		"a long name":         {cat, []*tar.Header{file(strings.Repeat("x", 300))}, "file name too long"},
		"through a link":      {cat, []*tar.Header{link("l", ".."), file("l/left")}, `its build leaves a file "l/left"`},
		"a link and a file":   {cat, []*tar.Header{link("l", "m"), file("l")}, `its build leaves a file "l": file exists`},
		"a device":            {cat, []*tar.Header{{Name: "d", Typeflag: tar.TypeChar, Devmajor: 1, Devminor: 3}}, ""},
		"a hard link":         {cat, []*tar.Header{{Name: "h", Typeflag: tar.TypeLink, Linkname: "/etc/passwd"}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			into := filepath.Join(t.TempDir(), "deep", "b")
			require.NoError(t, os.MkdirAll(into, 0o755))
			got, err := (&reading{into: into}).answer(strings.NewReader(a.text(t)))
			if a.want == "" {
				require.NoError(t, err)
				require.Equal(t, cat, got)
			} else {
				require.ErrorAs(t, err, new(*Refusal))
				require.ErrorContains(t, err, a.want)
				require.NotRegexp(t, `[[:cntrl:]]`, err.Error())
				require.Less(t, len(err.Error()), 2*mostReason)
			}
			nothingLeft(t, into)
		})
	}
}

// nothingLeft requires that there is no file "left" beside a folder or in it, and nothing there with unusual rights.
func nothingLeft(t *testing.T, into string) {
	require.NoError(t, filepath.WalkDir(filepath.Dir(filepath.Dir(into)), func(path string, d fs.DirEntry, err error) error {
		require.NoError(t, err)
		info := envtest.Must(d.Info())
		require.NotEqual(t, "left", d.Name(), path)
		require.Zero(t, info.Mode()&(fs.ModeSetuid|fs.ModeSetgid|fs.ModeDevice|fs.ModeNamedPipe|0o022), path)
		return nil
	}))
}

// TestBuildsAttackTheirProcess: a build that ends, floods or forges the answers of the process that started it is refused.
// What else it can forge is in TestForgedAnswers.
func TestBuildsAttackTheirProcess(t *testing.T) {
	compiletest.Everywhere(t, func(t *testing.T) {
		forged := func(a answering) string {
			text := base64.StdEncoding.EncodeToString([]byte(a.text(t)))
			return "echo " + text + " | base64 -d > /proc/INSIDE/fd/1; kill -STOP INSIDE; exec sleep 1000"
		}
		cat := answer{Argv: []string{"cat"}, Dir: "."}
		for name, a := range map[string]struct{ script, want string }{
			"ends it":            {"kill -9 INSIDE; sleep 1000", "its process has ended"},
			"floods it":          {"cat /dev/zero > /proc/INSIDE/fd/1", "does not compile"},
			"floods with spaces": {"yes '   ' > /proc/INSIDE/fd/1", "does not compile"},
			"never ends":         {"while :; do :; done", "it takes more than"},
			"needs Go again":     {forged(answering{answer: answer{NeedsGo: true}}), " Go"},
			"a file outside":     {forged(answering{cat, []*tar.Header{{Name: "../left", Mode: 0o6777}}, ""}), `its build leaves a file "../left"`},
			"a refusal of many":  {forged(answering{answer: answer{Refusal: &Refusal{Why: "\x1b[31m\n" + strings.Repeat("x", 5000)}}}), "xxx"},
			"no archive":         {"echo '{\"Answer\":{\"Argv\":[\"cat\"],\"Dir\":\".\"}}' > /proc/INSIDE/fd/1; yes > /proc/INSIDE/fd/1", "does not compile"},
		} {
			t.Run(name, func(t *testing.T) {
				limits := Default
				limits.Time = 30 * time.Second
				if name == "never ends" {
					limits.Time = time.Second
				}
				into := filepath.Join(t.TempDir(), "deep", "b")
				_, err := Submission(t.Context(), folder(t, a.script, "cat"), into, contest.Uploads{}, limits)
				requireRefusal(t, err, a.want)
				nothingLeft(t, into)
			})
		}
	})
}

// TestKeepIsBounded: files of holes, which take no bytes in an archive, count as what they would take; no link leads out.
func TestKeepIsBounded(t *testing.T) {
	holes := envtest.File(t, "holes", "")
	require.NoError(t, os.Truncate(holes, 1<<30))
	sparse := envtest.Must(exec.Command("tar", "-C", filepath.Dir(holes), "--sparse", "-cf", "-", "holes").Output())
	require.Less(t, len(sparse), 1<<20)
	require.EqualError(t, keep(bytes.NewReader(sparse), t.TempDir()), "its build leaves more than 256 MiB")

	var links bytes.Buffer
	w, into := tar.NewWriter(&links), t.TempDir()
	for name, to := range map[string]string{"here": ".", "deep/up": "..", "far": "deep/up/../../x", "kept": "deep/up"} {
		require.NoError(t, w.WriteHeader(&tar.Header{Typeflag: tar.TypeSymlink, Name: name, Linkname: to}))
	}
	require.NoError(t, w.Close())
	require.NoError(t, os.Mkdir(filepath.Join(into, "deep"), 0o755))
	require.NoError(t, keep(&links, into))
	for name, there := range map[string]bool{"here": true, "deep/up": true, "kept": true, "far": false} {
		_, err := os.Lstat(filepath.Join(into, name))
		require.Equal(t, there, err == nil, name)
	}

	var head bytes.Buffer
	require.NoError(t, tar.NewWriter(&head).WriteHeader(&tar.Header{Name: "a", Size: 1 << 40, Mode: 0o644}))
	err := keep(io.MultiReader(&head, zeros{}), t.TempDir())
	require.Error(t, err)
	require.False(t, errors.As(err, new(*fs.PathError)))
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) { clear(b); return len(b), nil }

// TestMemory: a program that takes more than it may is ended, and told so.
func TestMemory(t *testing.T) {
	path := envtest.File(t, "big.py",
		"import time\nb = bytearray(300 << 20)\nb[::4096] = b'x' * len(b[::4096])\ntime.sleep(60)\n")
	bot := envtest.Must(submit(t, path))
	bot.Program.Memory = 100 << 20
	p := envtest.Must(bot.Program.Start(nil))
	_, _, _, err := p.Ask(t.Context(), []string{"x"}, time.Minute)
	require.ErrorIs(t, err, contest.ErrGone)
	require.Regexp(t, `^the program was ended: it uses \d+ MiB of memory, want at most 100$`, p.Odd(err)[0])
	require.NoError(t, p.Close())
}

// secret is what no submission may learn while it is compiled.
const secret = "Rosebud42"

// TestCompileAttacks: a submission that attacks while it is compiled reaches nothing outside of its folder. Every attack
// would print the secret, or leave a file beside the folder.
func TestCompileAttacks(t *testing.T) {
	compiletest.Everywhere(t, compileAttacks)
}

func compileAttacks(t *testing.T) {
	outside := t.TempDir()
	hidden := filepath.Join(outside, "id")
	require.NoError(t, os.WriteFile(hidden, []byte(secret+"\n"), 0o600))
	l := envtest.Closing(t, envtest.Must(net.Listen("tcp", "127.0.0.1:0")))
	left := filepath.Join(outside, "left")
	script := fmt.Sprintf("cat %s >&2; echo x > %s; bash -c 'echo x > /dev/tcp/%s' || true; exit 1\n", hidden, left,
		strings.Replace(l.Addr().String(), ":", "/", 1))
	makefile := "all:\n\t" + strings.ReplaceAll(script, "\n", "")
	attacks := map[string]struct {
		tool  string
		works bool // where nothing is contained; the others are never run
		files []string
	}{
		"include of a secret": {"cc", true, []string{"bot.c", fmt.Sprintf("#include %q\nint main(void) { return 0; }\n", hidden)}},
		"embedded by the assembler": {"cc", true, []string{"bot.c", fmt.Sprintf(
			"__asm__(\".incbin \\\"%s\\\"\");\nint main(void) { return 0; }\n", hidden)}},
		"a makefile": {"make", true, []string{"Makefile", makefile, "bot.c", "int x;\n"}},
		"bot.toml":   {"sh", true, []string{"bot.toml", "build = \"sh steal\"\nrun = \"./bot\"\n", "steal", script}},
		"go:generate and go:embed": {"go", false, []string{"main.go", fmt.Sprintf("package main\n\nimport _ \"embed\"\n\n"+
			"//go:generate sh -c %q\n\n//go:embed %s\nvar text string\n\nfunc main() { print(text) }\n", script, hidden)}},
		"build.rs": {"cargo", true, []string{"Cargo.toml", "[package]\nname = \"bot\"\nversion = \"1.0.0\"\n", "src/main.rs",
			"fn main() {}\n", "build.rs", fmt.Sprintf("fn main() { std::fs::write(%q, \"x\").ok(); "+
				"panic!(\"{:?}\", std::fs::read_to_string(%q)); }\n", left, hidden)}},
		"an annotation processor": {"javac", false, []string{"Bot.java", "public class Bot { public static void main(String[] a) {} }\n",
			"META-INF/services/javax.annotation.processing.Processor", "Evil\n"}},
		"a script of npm": {"npm", false, []string{"package.json", fmt.Sprintf(
			"{\"main\":\"bot.js\",\"scripts\":{\"preinstall\":\"cp %s %s\"}}", hidden, left), "bot.js", "process.stdin\n"}},
	}
	for name, a := range attacks {
		t.Run(name, func(t *testing.T) {
			if lacks := strings.Join(cage.Missing(), "; "); strings.Contains(lacks, "Landlock)") {
				t.Skipf("nothing keeps files apart here: %s", lacks)
			}
			if _, err := exec.LookPath(a.tool); err != nil {
				t.Skipf("%s is not here", a.tool)
			}
			archive := zipped(t, a.files...)
			require.False(t, leaks(t, archive, left, false))
			if a.works && os.Getenv(compiletest.Machine) == "" { // all machines are alike in the open
				require.True(t, leaks(t, archive, left, true), "in the open")
				_ = os.Remove(left)
			}
		})
	}
}

// leaks compiles a submission and reports whether the secret is said, in a file of the bot, or a file is left.
func leaks(t *testing.T, archive, left string, open bool) bool {
	into, limits := t.TempDir(), Default
	limits.Open = open
	_, err := Submission(t.Context(), archive, into, contest.Uploads{}, limits)
	said := fmt.Sprint(err)
	if r, ok := err.(*Refusal); ok {
		said += r.Output
	}
	_, missing := os.Stat(left)
	leaked := missing == nil || strings.Contains(said, secret)
	require.NoError(t, filepath.WalkDir(into, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		leaked = leaked || strings.Contains(string(text), secret+"\n")
		return err
	}))
	return leaked
}

// TestBuildsLeadNowhere: what a build leaves in its folder leads its host to no file outside, which would get other rights
// or other lines.
func TestBuildsLeadNowhere(t *testing.T) {
	file := envtest.File(t, "file", outsider)
	into := t.TempDir()
	path := envtest.Must(filepath.Rel(into, file))
	for _, run := range []string{"./bot", path} { // the first is a link
		_, err := Submission(t.Context(), folder(t, "ln -s "+file+" bot", run), into, contest.Uploads{}, Default)
		require.ErrorAs(t, err, new(*Refusal))
		untouched(t, file)
	}
}

// TestCompilersAreBounded: a source of a few bytes whose compilation writes gigabytes is refused, and leaves nothing.
func TestCompilersAreBounded(t *testing.T) {
	t.Setenv("TMPDIR", compiletest.Public(t))
	into := t.TempDir()
	path := envtest.File(t, "bot.c", "__asm__(\".fill 0x1c0000000,1,1\"); int main(void) { return 0; }\n")
	require.ErrorAs(t, envtest.Failed(Submission(t.Context(), path, into, contest.Uploads{}, Default)), new(*Refusal))
	require.Empty(t, envtest.Must(filepath.Glob(filepath.Join(os.TempDir(), "*.[os]*"))))
	var bytes int64
	require.NoError(t, filepath.WalkDir(into, func(_ string, d os.DirEntry, err error) error {
		if info, _ := d.Info(); err == nil && d.Type().IsRegular() {
			bytes += info.Size()
		}
		return err
	}))
	require.Less(t, bytes, int64(2<<30))
}
