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
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"blockyard/agents/contest"
	"blockyard/agents/contest/compile/compiletest"
)

func TestMain(m *testing.M) { compiletest.Run(m) }

// hang is how long a test waits for what takes a moment.
const hang = 2 * time.Minute

// number is a number as headers of 7-Zip have it.
func number(n uint64) []byte { return binary.LittleEndian.AppendUint64([]byte{0xff}, n) }

// sixes is a tar.xz with main.py whose header says that its dictionary has 4 GiB.
func sixes(t *testing.T) string {
	const made = "/Td6WFoAAATm1rRGAgAhAQgAAADYDyMT4Cf/AF9dADaYSXKFArxuPELe2oS/rJr1tRGbQDIKKvVFqr/NLINrPaTeZN6PekQTps0S" +
		"CN1Dxexhnh0+GO+L11jwTh9eK36hWfOdM4W8D432LVOgCGe/ZstgePVjqn4Q2w2dcDoAAABC97CPKvrPOAABe4BQAAAA75Zb2LHEZ/sCAAAAAARZWg=="
	text, err := base64.StdEncoding.DecodeString(made)
	require.NoError(t, err)
	at := bytes.Index(text, []byte("\x21\x01")) + 2
	text[at] = 40
	size := (int(text[12]) + 1) * 4
	binary.LittleEndian.PutUint32(text[12+size-4:], crc32.ChecksumIEEE(text[12:12+size-4]))
	return string(text)
}

// TestBombs: small submissions that are large, deep or damaged inside are refused, within bounds of time and memory, and
// the process that takes them goes on. Each has ended one, or made it search for minutes.
func TestBombs(t *testing.T) {
	deep := func(text string) string {
		return string(read(t, zipped(t, "bot.toml", text, "main.py", "")))
	}
	tarOf := func(heads ...*tar.Header) string {
		var b bytes.Buffer
		w := tar.NewWriter(&b)
		for _, h := range heads {
			require.NoError(t, w.WriteHeader(h))
		}
		require.NoError(t, w.Close())
		return b.String()
	}
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
		"dict.tar.xz":   sixes(t),
		"deep.tar":      tarOf(&tar.Header{Name: strings.Repeat(strings.Repeat("d", 100)+"/", 300) + "main.py", Mode: 0o644}),
		"records.tar":   tarOf(&tar.Header{Name: "main.txt", Mode: 0o644, Format: tar.FormatPAX, PAXRecords: records}),
		"folders.zip":   string(read(t, zipped(t, folders...))),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := write(t, name, text)
			_, err := Submission(t.Context(), path, filepath.Join(t.TempDir(), "b"), contest.Uploads{}, Default)
			require.ErrorAs(t, err, new(*Refusal))
			require.NotContains(t, err.Error(), "\n")
		})
	}
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
		"a file with millions of words": write(t, "main.go", imports),
	} {
		_, err := Submission(t.Context(), path, filepath.Join(t.TempDir(), "b"), contest.Uploads{}, late)
		require.ErrorAs(t, err, new(*Refusal), name)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err = Submission(ctx, path, filepath.Join(t.TempDir(), "b"), contest.Uploads{}, Default)
		require.ErrorIs(t, err, context.Canceled, name)
	}
	// Of as many files in a language that is not compiled, the one to start is found in time.
	for k := 0; k < len(many); k += 2 {
		many[k] = strings.Replace(many[k], ".py", ".pl", 1)
		many[k+1] = strings.ReplaceAll(many[k+1], "import ", "use ")
	}
	_, err := Submission(t.Context(), zipped(t, many...), filepath.Join(t.TempDir(), "b"), contest.Uploads{}, Default)
	require.ErrorContains(t, err, "does not compile: perl: ", "it is not late")
}

// TestCancelEndsABuild: what a build has started ends with the context, however busy it is.
func TestCancelEndsABuild(t *testing.T) {
	nap := fmt.Sprintf("605.%d", time.Now().UnixNano())
	dir := folder(t, "setsid sleep "+nap+" & sleep "+nap+" & while :; do :; done")
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := Submission(ctx, dir, filepath.Join(dir, "../b"), contest.Uploads{}, Default)
		ended <- err
	}()
	require.Eventually(t, func() bool { return len(naps(t, nap)) > 0 }, hang, 10*time.Millisecond)
	cancel()
	select {
	case err := <-ended:
		require.ErrorIs(t, err, context.Canceled)
	case <-time.After(hang):
		t.Fatal("it goes on")
	}
	require.Empty(t, naps(t, nap))
}

// naps returns the processes of this machine that are "sleep nap".
func naps(t *testing.T, nap string) (list []string) {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	require.NoError(t, err)
	for _, file := range files {
		if text, err := os.ReadFile(file); err == nil && string(text) == "sleep\x00"+nap+"\x00" {
			list = append(list, file)
		}
	}
	return list
}

// folder returns a submission whose build is a script of sh. INSIDE stands there for the process that builds it.
func folder(t *testing.T, script string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "theirs")
	for name, text := range map[string]string{"bot.toml": "build = \"sh attack\"\nrun = \"cat\"\n",
		"attack": strings.ReplaceAll(script, "INSIDE", "$PPID")} {
		require.NoError(t, os.MkdirAll(dir, 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	return dir
}

// TestBuildsAttackTheirProcess: a build that ends, floods or forges the answers of the process that started it is refused
// or gets its way with its own bot; all that it can say leads nowhere, and the fault is its author's.
func TestBuildsAttackTheirProcess(t *testing.T) {
	compiletest.Everywhere(t, attackProcess)
}

func attackProcess(t *testing.T) {
	forged := func(a answer, heads ...*tar.Header) string {
		text, err := json.Marshal(message{Answer: &a})
		require.NoError(t, err)
		var b bytes.Buffer
		w := tar.NewWriter(&b)
		for _, h := range heads {
			require.NoError(t, w.WriteHeader(h))
		}
		require.NoError(t, w.Flush())
		both := base64.StdEncoding.EncodeToString(append(append(text, '\n'), append(b.Bytes(), make([]byte, 1024)...)...))
		return "echo " + both + " | base64 -d > /proc/INSIDE/fd/1; kill -STOP INSIDE; exec sleep 1000"
	}
	file := func(name string) *tar.Header { return &tar.Header{Name: name, Mode: 0o6777} }
	link := func(name, to string) *tar.Header {
		return &tar.Header{Name: name, Typeflag: tar.TypeSymlink, Linkname: to}
	}
	cat := answer{Argv: []string{"cat"}, Dir: "."}
	limits := Default
	limits.Time = 30 * time.Second
	for name, a := range map[string]struct{ script, want string }{
		"ends it":             {"kill -9 INSIDE; sleep 1000", "its process has ended"},
		"floods it":           {"cat /dev/zero > /proc/INSIDE/fd/1", "does not compile"},
		"floods with spaces":  {"yes '   ' > /proc/INSIDE/fd/1", "does not compile"},
		"never ends":          {"while :; do :; done", "it takes more than"},
		"no command":          {forged(answer{Language: "x"}), "what cannot be started"},
		"a folder outside":    {forged(answer{Argv: []string{"cat"}, Dir: "../../x"}), "what cannot be started"},
		"an absolute folder":  {forged(answer{Argv: []string{"cat"}, Dir: "/etc"}), "what cannot be started"},
		"a NUL":               {forged(answer{Argv: []string{"cat\x00x"}, Dir: "."}), "what cannot be started"},
		"a NUL in the folder": {forged(answer{Argv: []string{"cat"}, Dir: "a\x00"}), "what cannot be started"},
		"a long command":      {forged(answer{Argv: []string{"cat", strings.Repeat("x", 50_000)}, Dir: "."}), "what cannot be started"},
		"needs Go again":      {forged(answer{NeedsGo: true}), " Go"},
		"a file outside":      {forged(cat, file("../left")), `its build leaves a file "../left"`},
		"an absolute file":    {forged(cat, file("/left")), `its build leaves a file "/left"`},
		"a file twice":        {forged(cat, file("a"), file("a")), `its build leaves a file "a": file exists`},
		"a file below a file": {forged(cat, file("a"), file("a/b")), `its build leaves a file "a/b"`},
		"a long name":         {forged(cat, file(strings.Repeat("x", 300))), "file name too long"},
		"through a link":      {forged(cat, link("l", ".."), file("l/left")), `its build leaves a file "l/left"`},
		"a link and a file":   {forged(cat, link("l", "m"), file("l")), `its build leaves a file "l": file exists`},
		"a device":            {forged(cat, &tar.Header{Name: "d", Typeflag: tar.TypeChar, Devmajor: 1, Devminor: 3}), ""},
		"a hard link":         {forged(cat, &tar.Header{Name: "h", Typeflag: tar.TypeLink, Linkname: "/etc/passwd"}), ""},
		"a refusal of many":   {forged(answer{Refusal: &Refusal{Why: "\x1b[31m\n" + strings.Repeat("x", 5000)}}), "xxx"},
		"no archive":          {"echo '{\"Answer\":{\"Argv\":[\"cat\"],\"Dir\":\".\"}}' > /proc/INSIDE/fd/1; yes > /proc/INSIDE/fd/1", "does not compile"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := folder(t, a.script)
			into := filepath.Join(t.TempDir(), "deep", "b")
			limits := limits
			if name == "never ends" {
				limits.Time = time.Second
			}
			bot, err := Submission(t.Context(), dir, into, contest.Uploads{}, limits)
			if a.want == "" {
				require.NoError(t, err)
				require.Equal(t, []string{"cat"}, bot.Program.Argv)
			} else {
				require.ErrorAs(t, err, new(*Refusal))
				require.ErrorContains(t, err, a.want)
				require.NotRegexp(t, `[[:cntrl:]]`, err.Error())
				require.Less(t, len(err.Error()), 2*mostReason)
			}
			require.NoError(t, filepath.WalkDir(filepath.Dir(filepath.Dir(into)), func(path string, d fs.DirEntry, err error) error {
				require.NoError(t, err)
				info, err := d.Info()
				require.NoError(t, err)
				require.NotEqual(t, "left", d.Name(), path)
				require.Zero(t, info.Mode()&(fs.ModeSetuid|fs.ModeSetgid|fs.ModeDevice|fs.ModeNamedPipe|0o022), path)
				return nil
			}))
		})
	}
}

// TestKeepIsBounded: files of holes, which take no bytes in an archive, count as what they would take.
func TestKeepIsBounded(t *testing.T) {
	const size = 1 << 40
	sparse := sparseTar(t, size)
	err := keep(strings.NewReader(sparse), t.TempDir())
	require.EqualError(t, err, "its build leaves more than 256 MiB")
	err = keep(io.MultiReader(strings.NewReader(tarHead(t, "a", size)), zeros{}), t.TempDir())
	require.Error(t, err)
	require.False(t, errors.As(err, new(*fs.PathError)))
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) { clear(b); return len(b), nil }

// tarHead returns the head of a file of some size in an archive, without the file.
func tarHead(t *testing.T, name string, size int64) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, tar.NewWriter(&b).WriteHeader(&tar.Header{Name: name, Size: size, Mode: 0o644}))
	return b.String()
}

// sparseTar returns an archive with a file that is one hole.
func sparseTar(t *testing.T, size int64) string {
	t.Helper()
	head := []byte(tarHead(t, "holes", 0))
	require.Len(t, head, 512)
	octal := func(at, n int, value int64) { copy(head[at:at+n], fmt.Sprintf("%0*o\x00", n-1, value)) }
	head[156] = 'S'                                        // a sparse file of GNU
	copy(head[257:265], "ustar  \x00")                     // its magic
	clear(head[345:500])                                   // the prefix of the others
	octal(386, 12, size)                                   // where a part begins
	octal(398, 12, 0)                                      // how long it is
	binary.BigEndian.PutUint64(head[483+4:], uint64(size)) // the whole size,
	head[483] = 0x80                                       // in binary
	copy(head[148:156], "        ")
	sum := int64(0)
	for _, c := range head {
		sum += int64(c)
	}
	copy(head[148:156], fmt.Sprintf("%06o\x00 ", sum))
	return string(head) + strings.Repeat("\x00", 1024)
}
