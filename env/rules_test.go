package env_test

import (
	"fmt"
	"hash/crc32"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/env/envtest/rulebook"
)

// contests are the games with a RULES.md, and the checksum of its headings with their numbers. A file in a folder whose
// path has the name of a game cites its rules, and so does one in the folders of ofOne. Elsewhere a citation names the
// game, as in "blockbattle rules §4".
var (
	contests = map[string]uint32{
		"blockbattle": 0xe5a78cec, "blocking": 0x90ab3ab8, "dropblox": 0xaa717344, "tetrisduel": 0x24f1bba2, "wintetris": 0x34fc1c07,
	}
	ofOne = strings.NewReplacer("datasets/viewer/", "/dropblox", "agents/contest/library/", "/wintetris")

	cited   = regexp.MustCompile(`(?:(\w+) rules )?§(\d+(?:\.\d+)?)`)
	heading = regexp.MustCompile(`(?m)^#+ .+$`)
)

// TestRulesAreCited holds every "rules §n" against the RULES.md of the game: the section exists. If sections are
// renumbered, TestRulesPages says so.
func TestRulesAreCited(t *testing.T) {
	books := map[string]*rulebook.Book{}
	for game := range contests {
		books[game] = rulebook.Open(t, game)
	}
	holds(t, func(all []source) (out []string) {
		for _, f := range all {
			for k, line := range strings.Split(f.text, "\n") {
				for _, m := range cited.FindAllStringSubmatch(line, -1) {
					game := m[1]
					for name := range contests {
						if books[game] == nil && strings.Contains(ofOne.Replace("/"+f.path), "/"+name) {
							game = name
						}
					}
					if b := books[game]; f.path != "env/rules_test.go" && (b == nil || b.Section(m[2]) == nil) {
						out = append(out, fmt.Sprintf("%s:%d: no §%s of %q: want one of a game, as in blockbattle rules §4",
							f.path, k+1, m[2], game))
					}
				}
			}
		}
		return out
	}, trial{"env/blocking/x.go", "// A thing (rules §4.2).\n\n// tetrisduel rules §3", ""},
		trial{"env/blocking/x.go", "\n\n// (rules §4.9)", `env/blocking/x.go:4: no §4.9 of "blocking"`},
		trial{"README.md", "rules §3", `README.md:1: no §3 of ""`})
}

// TestRulesPages wants the headings of every RULES.md under the numbers that are cited, and no picture that it does not
// show. Links within pages, test_the_markdown_was_understood looks up.
func TestRulesPages(t *testing.T) {
	require.Len(t, glob(t, "env/*/game.go"), len(contests), "each game has its row in contests")
	for game, sum := range contests {
		b := rulebook.Open(t, game)
		headings := strings.Join(heading.FindAllString(b.Text, -1), "\n")
		require.Equal(t, sum, crc32.ChecksumIEEE([]byte(headings)), "%s: headings have changed: correct every §n that cites "+
			"one of another number now, then the checksum in contests", b.Path)
		for _, p := range glob(t, "env/"+game+"/pictures/*") {
			require.Contains(t, b.Text, "](pictures/"+filepath.Base(p)+")")
		}
	}
}
