package env_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A promise is a row of a table of SECURITY.md: what is promised, and the tests that hold it.
var (
	promise = regexp.MustCompile(`(?m)^\| (.+?) \|(.*)\|$`)
	tests   = regexp.MustCompile("((?:`\\w+`, )*`\\w+`) \\(`([^`]+)`\\)")
)

// missing returns what is wrong with the promises of text: those that name no test, and tests that do not exist in the
// folder that they name. promises is how many there are.
func missing(t *testing.T, text string) (promises int, wrong []string) {
	t.Helper()
	for _, row := range promise.FindAllStringSubmatch(text, -1) {
		what, where := row[1], row[2]
		if what == "promise" {
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
	for _, file := range files {
		b, err := os.ReadFile(file)
		require.NoError(t, err)
		if strings.Contains(string(b), start) {
			return true
		}
	}
	return false
}

// Each promise of SECURITY.md names tests, and they exist.
func TestPromisesNameTheirTests(t *testing.T) {
	b, err := os.ReadFile("../.github/SECURITY.md")
	require.NoError(t, err)
	promises, wrong := missing(t, string(b))
	require.Empty(t, wrong)
	require.Greater(t, promises, 20)

	for _, bad := range []string{
		"| It holds | |", "| It holds | `TestPromisesNameTheirTests` |", "| It holds | `TestNowhere` (`env`) |",
		"| It holds | `TestPromisesNameTheirTests` (`rpc`) |", "| It holds | soon |",
		"| It holds | `TestPromisesNameTheirTests`, `TestNowhere` (`env`) |", "| It holds | `test_nothing` (`rpc/python/tests`) |",
	} {
		_, wrong := missing(t, bad)
		require.NotEmpty(t, wrong, bad)
	}
}
