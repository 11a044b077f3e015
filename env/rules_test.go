package env_test

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/env/envtest/rulebook"
)

// contests are the games with a RULES.md. A file in a folder whose path has the name of a game cites its rules, and so
// does one in the folders of ofOne. Elsewhere a citation names the game, as in "blockbattle rules §4".
var (
	contests, _ = filepath.Glob("*/game.go")
	ofOne       = strings.NewReplacer("datasets/viewer/", "/dropblox", "agents/contest/library/", "/wintetris")

	cited     = regexp.MustCompile(`(?:\w+ rules )?§(\d+(?:\.\d+)?)`)
	prose     = regexp.MustCompile(`(?i)\bsection \d+ of the rules`)
	camel     = regexp.MustCompile(`([a-z])([A-Z])`)
	wordStart = regexp.MustCompile(`\b[a-z]{3,5}`)
	link      = regexp.MustCompile(`\]\(([^)]+)\)`)
	heading   = regexp.MustCompile(`(?m)^#+ (.+)$`)
	omitted   = regexp.MustCompile(`[^a-z0-9 -]`) // from a heading, in the name by which a link reaches it
)

// A citation is a "§n" in a file. about is what stands around it: at most two lines before and three after, without
// those beyond an empty line.
type citation struct{ place, game, section, about string }

func citations(path, text string) (out []citation) {
	for _, m := range cited.FindAllStringSubmatchIndex(text, -1) {
		before, after := text[max(0, m[0]-2*maxLineLength):m[0]], text[m[0]:min(len(text), m[1]+3*maxLineLength)]
		after, _, _ = strings.Cut(after, "\n\n")
		place := fmt.Sprintf("%s:%d", path, 1+strings.Count(text[:m[0]], "\n"))
		c := citation{place, "", text[m[2]:m[3]], before[strings.LastIndex(before, "\n\n")+1:] + after}
		for _, file := range contests {
			game := filepath.Dir(file)
			if text[m[0]:m[2]] == game+" rules §" || c.game == "" && strings.Contains(ofOne.Replace("/"+path), "/"+game) {
				c.game = game
			}
		}
		out = append(out, c)
	}
	return out
}

// A book is the rules of a game, and the comments that cite them.
type book struct {
	*rulebook.Book
	words  []string   // the beginnings of those of each section, between spaces, each once
	common [3]float64 // of the comments with the section before the one that they cite, with that and with the next
}

func openBook(t *testing.T, game string) *book {
	b := &book{Book: rulebook.Open(t, game)}
	for _, s := range b.Sections {
		b.words = append(b.words, " "+strings.Join(wordsOf(s.Text), "  ")+" ")
	}
	return b
}

func wordsOf(text string) []string {
	words := wordStart.FindAllString(strings.ToLower(camel.ReplaceAllString(text, "$1 $2")), -1)
	slices.Sort(words)
	return slices.Compact(words)
}

// shared returns how much a text has in common with the section that comes so many after one: for each word that at
// most half of the sections have, one by their number.
func (b *book) shared(section string, after int, text string) (sum float64) {
	at := slices.IndexFunc(b.Sections, func(s rulebook.Section) bool { return s.Number == section })
	words, all := b.words[(at+after+len(b.words))%len(b.words)], strings.Join(b.words, "")
	for _, w := range wordsOf(text) {
		in := strings.Count(all, " "+w+" ") // sections
		if strings.Contains(words, " "+w+" ") && 2*in <= len(b.words) {
			sum += 1 / float64(in)
		}
	}
	return sum
}

// TestRulesAreCited holds every "rules §n" of the code against the RULES.md of the game: the section exists, and has a
// word of the comment that at most half of the sections have. Together, the comments of a game have far more in common
// with the sections that they cite than with those before or after them. They would not if sections were renumbered.
func TestRulesAreCited(t *testing.T) {
	books := map[string]*book{}
	require.GreaterOrEqual(t, len(contests), 5)
	for _, file := range contests {
		books[filepath.Dir(file)] = openBook(t, filepath.Dir(file))
	}
	for _, f := range texts(t) {
		if f.path == "env/rules_test.go" {
			continue
		}
		require.Empty(t, prose.FindString(f.text), "%s: want rules §n", f.path)
		for _, c := range citations(f.path, f.text) {
			b := books[c.game]
			switch {
			case b == nil || b.Section(c.section) == nil:
				t.Errorf("%s: no §%s of %q: want one of a game, as in blockbattle rules §4", c.place, c.section, c.game)
			case filepath.Ext(f.path) == ".md":
			case b.shared(c.section, 0, c.about) == 0:
				t.Errorf("%s: nothing says that this is about rules §%s, %s: %s",
					c.place, c.section, b.Section(c.section).Title, c.about)
			default:
				for k := range b.common {
					b.common[k] += b.shared(c.section, k-1, c.about)
				}
			}
		}
	}
	for game, b := range books {
		others := max(b.common[0], b.common[2], 10) // without citations, nothing could be told
		require.Greater(t, b.common[1], 1.5*others, "%s: are its sections cited by other numbers?", game)
	}
}

func TestCitations(t *testing.T) {
	const text = "x\n\n// A thing (rules §4.2). It\n// is so.\nvar x = 1\n\n// tetrisduel rules §3"
	require.Equal(t, []citation{
		{"env/blocking/x.go:3", "blocking", "4.2", "\n// A thing (rules §4.2). It\n// is so.\nvar x = 1"},
		{"env/blocking/x.go:7", "tetrisduel", "3", "\n// tetrisduel rules §3"},
	}, citations("env/blocking/x.go", text))
	require.Empty(t, citations("README.md", "rules and §n")) // no number
	require.Equal(t, "", citations("README.md", "rules §3")[0].game)
}

// TestRulesPages wants the same sections in every RULES.md, links that lead somewhere, and no picture that
// none of them shows.
func TestRulesPages(t *testing.T) {
	alike := strings.Split("In short,Board|Field,Pieces|Shapes|Blocks,Moves,A round|A half-turn|A turn|A tick,Points,"+
		"End of the game,Protocol|Interface,Time and limits,Example dialogue,Random draws,What we chose", ",")
	for _, file := range contests {
		game := filepath.Dir(file)
		b, anchors := openBook(t, game), []string{}
		for k, titles := range alike {
			s := b.Section(fmt.Sprint(k + 1))
			require.NotNil(t, s, "%s has no section %d", b.Path, k+1)
			require.Contains(t, strings.Split(titles, "|"), s.Title, b.Path)
		}
		for _, h := range heading.FindAllStringSubmatch(b.Text, -1) {
			name := omitted.ReplaceAllString(strings.ToLower(h[1]), "")
			anchors = append(anchors, "#"+strings.ReplaceAll(name, " ", "-"))
		}
		for _, l := range link.FindAllStringSubmatch(b.Text, -1) {
			if !slices.Contains(anchors, l[1]) {
				require.FileExists(t, filepath.Join(game, l[1]), "%s: %s leads nowhere", b.Path, l[1])
			}
		}
		pictures, _ := filepath.Glob(filepath.Join(game, "pictures", "*"))
		require.NotEmpty(t, pictures)
		for _, p := range pictures {
			require.Contains(t, b.Text, "](pictures/"+filepath.Base(p)+")")
		}
	}
}
