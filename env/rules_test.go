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
	prose   = regexp.MustCompile(`(?i)\bsection \d+ of the rules`)
	link    = regexp.MustCompile(`\]\(#([^)]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ (.+)$`)
	omitted = regexp.MustCompile(`[^a-z0-9 -]`) // from a heading, in the name by which a link reaches it
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
			if f.path == "env/rules_test.go" {
				continue
			}
			if text := prose.FindString(f.text); text != "" {
				out = append(out, fmt.Sprintf("%s: %q: want rules §n", f.path, text))
			}
			for _, m := range cited.FindAllStringSubmatchIndex(f.text, -1) {
				game, section := "", f.text[m[4]:m[5]]
				for name := range contests {
					if m[2] >= 0 && f.text[m[2]:m[3]] == name || game == "" && strings.Contains(ofOne.Replace("/"+f.path), "/"+name) {
						game = name
					}
				}
				if b := books[game]; b == nil || b.Section(section) == nil {
					line := 1 + strings.Count(f.text[:m[0]], "\n")
					out = append(out, fmt.Sprintf("%s:%d: no §%s of %q: want one of a game, as in blockbattle rules §4",
						f.path, line, section, game))
				}
			}
		}
		return out
	}, trial{"env/blocking/x.go", "// A thing (rules §4.2).\n\n// tetrisduel rules §3", ""},
		trial{"env/blocking/x.go", "\n\n// (rules §4.9)", `env/blocking/x.go:4: no §4.9 of "blocking"`},
		trial{"README.md", "rules §3", `README.md:1: no §3 of ""`}, trial{"README.md", "rules and §n, blocking rules §3", ""},
		trial{"env/x.go", "// see section 3 of the rules", `env/x.go: "section 3 of the rules": want rules §n`})
}

// TestRulesPages wants the same sections in every RULES.md under the numbers that are cited, links to sections that
// are there, and no picture that none of them shows. Links to files, test_links_between_files looks up.
func TestRulesPages(t *testing.T) {
	alike := strings.Split("In short,Board|Field,Pieces|Shapes|Blocks,Moves,A round|A half-turn|A turn|A tick,Points,"+
		"End of the game,Protocol|Interface,Time and limits,Example dialogue,Random draws,What we chose", ",")
	games, err := filepath.Glob("*/game.go")
	require.NoError(t, err)
	require.Len(t, games, len(contests), "each game has its row in contests")
	for game, sum := range contests {
		b, anchors := rulebook.Open(t, game), []string{}
		for k, titles := range alike {
			s := b.Section(fmt.Sprint(k + 1))
			require.NotNil(t, s, "%s has no section %d", b.Path, k+1)
			require.Contains(t, strings.Split(titles, "|"), s.Title, b.Path)
		}
		headings := strings.Join(heading.FindAllString(b.Text, -1), "\n")
		require.Equal(t, sum, crc32.ChecksumIEEE([]byte(headings)), "%s: headings have changed: correct every §n that cites "+
			"one of another number now, then the checksum in contests", b.Path)
		for h := range strings.Lines(headings) {
			name := omitted.ReplaceAllString(strings.ToLower(strings.TrimLeft(h, "# ")), "")
			anchors = append(anchors, strings.ReplaceAll(name, " ", "-"))
		}
		for _, l := range link.FindAllStringSubmatch(b.Text, -1) {
			require.Contains(t, anchors, l[1], "%s: #%s leads nowhere", b.Path, l[1])
		}
		pictures, _ := filepath.Glob(filepath.Join(game, "pictures", "*"))
		require.NotEmpty(t, pictures)
		for _, p := range pictures {
			require.Contains(t, b.Text, "](pictures/"+filepath.Base(p)+")")
		}
	}
}
