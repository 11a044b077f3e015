package env_test

import (
	"path"
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

// unkept returns a sentence for every promise of a page that names no test or one that does not exist in the folder that
// it names, and for every bound that is set where nothing is promised.
func unkept(all []source) (out []string) {
	for _, f := range all {
		if path.Base(f.path) != "SECURITY.md" {
			continue
		}
		for _, part := range notPromised.FindAllStringSubmatch(f.text, -1) {
			for _, s := range sentence.FindAllString(part[1], -1) {
				if bound.MatchString(s) && !tests.MatchString(s) {
					out = append(out, f.path+":"+s+" sets a bound: move it into the table, with its test, or say less")
				}
			}
		}
		for _, row := range promise.FindAllStringSubmatch(f.text, -1) {
			if rest := strings.Trim(tests.ReplaceAllString(row[2], "!"), "!, "); !strings.HasPrefix(row[1], "promise") &&
				(rest != "" || !tests.MatchString(row[2])) {
				out = append(out, f.path+": "+row[1]+": want `Test`, `Test` (`folder`), not"+row[2])
			}
			for _, group := range tests.FindAllStringSubmatch(row[2], -1) {
				for _, name := range strings.Split(strings.Trim(group[1], "`"), "`, `") {
					if !defined(group[2], name) {
						out = append(out, f.path+": "+row[1]+": no test "+name+" in "+group[2])
					}
				}
			}
		}
	}
	return out
}

// defined reports whether a file of tests in folder defines the test, in Go or in Python.
func defined(folder, name string) bool {
	all, _ := files()
	return slices.ContainsFunc(all, func(f source) bool {
		return path.Dir(f.path) == folder && f.part != product &&
			(strings.Contains(f.text, "\nfunc "+name+"(") || strings.Contains(f.text, "\ndef "+name+"("))
	})
}

// Each promise of SECURITY.md names tests, and they exist.
func TestPromisesNameTheirTests(t *testing.T) {
	require.Greater(t, len(promise.FindAllString(contents(t, ".github/SECURITY.md"), -1)), 20)
	var trials []trial
	for text, says := range map[string]string{
		"| It holds | `TestPromisesNameTheirTests`, `TestOnce` (`env`) |": "",
		"| It holds | |": "want `Test`",
		"| It holds | `TestPromisesNameTheirTests` |":                           "want `Test`",
		"| It holds | `TestOnce` (`env`), `TestOnce` |":                         "want `Test`",
		"| It holds | `TestOnce` (`rpc`) |":                                     "no test TestOnce in rpc",
		"| It holds | `TestOnce`, `TestNowhere` (`env`) |":                      "no test TestNowhere in env",
		"What is **not** promised:\n\n* Others have to wait.\n\n## 1\n\nNever.": "",
		"What is **not** promised:\n\n* It waits; there are at most 8.":         "there are at most 8. sets a bound",
		"What is **not** promised: at most 8 (`TestOnce` (`env`)).":             "",
	} {
		trials = append(trials, trial{"SECURITY.md", text, says})
	}
	holds(t, unkept, trials...)
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

// A known vulnerability fails the check. Where the database does not answer, the last lines say that nothing was
// checked; a release then fails.
func TestKnownVulnerabilitiesAreFound(t *testing.T) {
	if testing.Short() {
		t.Skip("it loads the sources of the standard library: 5 s")
	}
	bad, good := t.TempDir(), t.TempDir()
	for name, text := range vulnerable {
		write(t, filepath.Join(bad, name), text)
		write(t, filepath.Join(good, name), text)
	}
	write(t, filepath.Join(good, "index/modules.json"), "[]")
	const unreached = "vulnerabilities were NOT checked: https://vuln.go.dev cannot be reached"
	for _, c := range []struct {
		setting, arguments string
		status             int
		says               string
	}{
		{"VULNDB=file://" + bad, "./rpc/wire", 3, "GO-2026-9999"},
		{"VULNDB=file://" + good, "--require ./rpc/wire", 0, "No vulnerabilities found"},
		{"HTTPS_PROXY=http://127.0.0.1:1", "./env/falling", 0, unreached},
		{"HTTPS_PROXY=http://127.0.0.1:1", "--require ./env/falling", 1, unreached},
	} {
		words := strings.Fields(c.setting + " .ci/vulncheck " + c.arguments)
		require.Contains(t, in(t, c.status, "..", "env", words...), c.says)
	}
	require.Contains(t, contents(t, ".ci/release"), `".ci/vulncheck", "--require"`)
}
