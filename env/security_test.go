package env_test

import (
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A promise is a row of a table of SECURITY.md: what is promised, and the tests that hold it. What is not promised is a
// paragraph or a list; a sentence in it that sets a bound promises it all the same.
var (
	promise     = regexp.MustCompile(`(?m)^\| (.+?) \|(.*)\|$`)
	tests       = regexp.MustCompile("((?:`\\w+`, )*`\\w+`) \\(`([^`]+)`\\)")
	notPromised = regexp.MustCompile(`(?ms)^What is \*\*not\*\* promised:(.*?)(\n#|\z)`)
	sentence    = regexp.MustCompile(`(?s)[^.;]+[.;)]`)
	bound       = regexp.MustCompile(`(?i)\b(at most|at least|up to|never|always|cannot|nobody|none|is not sent|per second)\b`)
)

// bounds returns the sentences of what is not promised that set a bound and name no test.
func bounds(text string) (all []string) {
	for _, part := range notPromised.FindAllStringSubmatch(text, -1) {
		for _, s := range sentence.FindAllString(part[1], -1) {
			if bound.MatchString(s) && !tests.MatchString(s) {
				all = append(all, strings.TrimSpace(s))
			}
		}
	}
	return all
}

// missing returns what is wrong with the promises of text: those that name no test, and tests that do not exist in the
// folder that they name. promises is how many there are.
func missing(t *testing.T, text string) (promises int, wrong []string) {
	t.Helper()
	for _, row := range promise.FindAllStringSubmatch(text, -1) {
		what, where := row[1], row[2]
		if strings.HasPrefix(what, "promise") {
			continue
		}
		promises++
		if rest := tests.ReplaceAllString(where, ""); !tests.MatchString(where) || strings.Trim(rest, ", ") != "" {
			wrong = append(wrong, what+": want `Test`, `Test` (`folder`), not"+where)
		}
		for _, group := range tests.FindAllStringSubmatch(where, -1) {
			for _, name := range strings.Split(strings.ReplaceAll(group[1], "`", ""), ", ") {
				if !defined(t, group[2], name) {
					wrong = append(wrong, what+": no test "+name+" in "+group[2])
				}
			}
		}
	}
	return promises, wrong
}

// defined reports whether a file of tests in folder defines the test, in Go or in Python.
func defined(t *testing.T, folder, name string) bool {
	t.Helper()
	pattern, start := "*_test.go", "\nfunc "+name+"("
	if strings.HasPrefix(name, "test_") {
		pattern, start = "test_*.py", "\ndef "+name+"("
	}
	files, err := filepath.Glob(filepath.Join("..", folder, pattern))
	require.NoError(t, err)
	return slices.ContainsFunc(files, func(file string) bool { return strings.Contains(contents(t, file), start) })
}

// Each promise of SECURITY.md names tests, and they exist.
func TestPromisesNameTheirTests(t *testing.T) {
	page := contents(t, ".github/SECURITY.md")
	promises, wrong := missing(t, page)
	require.Empty(t, wrong)
	require.Greater(t, promises, 20)
	require.Empty(t, bounds(page), "move it into the table, with its test, or say less")
	for text, want := range map[string]int{
		"It takes time. Others have to wait.": 0, "There are at most 8. They wait.": 1, "The key is never sent; use TLS.": 1,
		"There are at most 8 (`TestPromisesNameTheirTests` (`env`)).": 0,
	} {
		require.Len(t, bounds("What is **not** promised:\n\n* "+text+"\n\n## Next\n\nThere are never two."), want, text)
	}

	for _, bad := range []string{
		"| It holds | |", "| It holds | `TestPromisesNameTheirTests` |", "| It holds | `TestNowhere` (`env`) |",
		"| It holds | `TestPromisesNameTheirTests` (`rpc`) |", "| It holds | soon |",
		"| It holds | `TestPromisesNameTheirTests`, `TestNowhere` (`env`) |", "| It holds | `test_nothing` (`rpc/python/tests`) |",
	} {
		_, wrong := missing(t, bad)
		require.NotEmpty(t, wrong, bad)
	}
}

// vulnerable is a database with one vulnerability, in every version of a module that rpc/wire calls.
var vulnerable = map[string]string{
	"index/db.json": `{"modified":"2026-01-01T00:00:00Z"}`,
	"index/modules.json": `[{"path":"github.com/vmihailenco/msgpack/v5",
		"vulns":[{"id":"GO-2026-9999","modified":"2026-01-01T00:00:00Z"}]}]`,
	"index/vulns.json": `[{"id":"GO-2026-9999","modified":"2026-01-01T00:00:00Z"}]`,
	"ID/GO-2026-9999.json": `{"schema_version":"1.3.1","id":"GO-2026-9999","modified":"2026-01-01T00:00:00Z",
		"published":"2026-01-01T00:00:00Z","summary":"invented","affected":[{
			"package":{"name":"github.com/vmihailenco/msgpack/v5","ecosystem":"Go"},
			"ranges":[{"type":"SEMVER","events":[{"introduced":"0"}]}],
			"ecosystem_specific":{"imports":[{"path":"github.com/vmihailenco/msgpack/v5","symbols":["Decoder.Decode"]}]}}],
		"database_specific":{"url":"https://example.org"}}`,
}

// vulncheck runs .ci/vulncheck on one package with this environment variable.
func vulncheck(t *testing.T, env string, flags ...string) (string, error) {
	t.Helper()
	cmd := exec.Command("../.ci/vulncheck", append(flags, "./rpc/wire")...)
	cmd.Env = append(os.Environ(), env)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// A known vulnerability fails the check. Where the database does not answer, the last lines say that nothing was
// checked; a release then fails.
func TestKnownVulnerabilitiesAreFound(t *testing.T) {
	if testing.Short() {
		t.Skip("it loads the sources of the standard library: 5 s")
	}
	folder := t.TempDir()
	for name, text := range vulnerable {
		write(t, filepath.Join(folder, name), text)
	}
	database := "VULNDB=" + (&url.URL{Scheme: "file", Path: folder}).String()
	out, err := vulncheck(t, database)
	require.Error(t, err, out)
	require.Contains(t, out, "GO-2026-9999")

	write(t, filepath.Join(folder, "index/modules.json"), "[]")
	for _, flags := range [][]string{nil, {"--require"}} {
		out, err = vulncheck(t, database, flags...)
		require.NoError(t, err, out)
		require.Contains(t, out, "No vulnerabilities found")
	}

	const unreached = "vulnerabilities were NOT checked: https://vuln.go.dev cannot be reached"
	out, err = vulncheck(t, "HTTPS_PROXY=http://127.0.0.1:1")
	require.NoError(t, err, out)
	require.Contains(t, out, unreached)
	out, err = vulncheck(t, "HTTPS_PROXY=http://127.0.0.1:1", "--require")
	require.Error(t, err, out)
	require.Contains(t, out, unreached)
	require.Contains(t, contents(t, ".ci/release"), `".ci/vulncheck", "--require"`)
}
