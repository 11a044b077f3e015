package env_test

import (
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/env/envtest/rulebook"
)

// rulesOf says whose RULES.md a comment of a folder cites. Elsewhere a citation names the game, as in
// "blockbattle rules §4".
var rulesOf = map[string]string{
	"env/blockbattle": "blockbattle", "agents/bots/blockbattlebot": "blockbattle",
	"env/blocking": "blocking", "agents/bots/blockingbot": "blocking",
	"env/dropblox": "dropblox", "agents/bots/dropbloxbot": "dropblox", "agents/contest/dropblox": "dropblox",
	"datasets/conform/dropbloxlog": "dropblox", "datasets/viewer": "dropblox",
	"env/tetrisduel": "tetrisduel", "agents/bots/tetrisduelbot": "tetrisduel", "datasets/conform/tetrisduellog": "tetrisduel",
	"agents/submit/starters/blockbattle": "blockbattle", "agents/submit/starters/blocking": "blocking",
	"agents/submit/starters/dropblox": "dropblox", "agents/submit/starters/tetrisduel": "tetrisduel",
	"agents/submit/starters/wintetris": "wintetris",
	"env/wintetris":                    "wintetris", "agents/bots/wintetrisbot": "wintetris",
	"agents/contest/library": "wintetris", "agents/submit/wintetris": "wintetris",
}

// A citation is a "§n" in a file.
type citation struct {
	path    string
	line    int
	game    string
	section string
	about   string // the comment that it stands in, and the line of code after it
}

var (
	cited     = regexp.MustCompile(`(?:(\w+) rules )?§(\d+(?:\.\d+)?)`)
	prose     = regexp.MustCompile(`(?i)\bsection \d+ of the rules`)
	commented = regexp.MustCompile(`^\s*(//|#|\*|/\*)`)
	camel     = regexp.MustCompile(`([a-z])([A-Z])`)
	word      = regexp.MustCompile(`[a-z]{3,}`)
)

// citations returns those of a file.
func citations(path, text string) (out []citation) {
	game := ""
	for folder, of := range rulesOf {
		if within(path, folder) {
			game = of
		}
	}
	lines := strings.Split(text, "\n")
	comment := func(k int) bool { return k >= 0 && k < len(lines) && commented.MatchString(lines[k]) }
	for k, line := range lines {
		for _, m := range cited.FindAllStringSubmatch(line, -1) {
			c := citation{path: path, line: k + 1, game: game, section: m[2]}
			for _, named := range rulesOf {
				if m[1] == named {
					c.game = named
				}
			}
			from, to := k, k
			for comment(from-1) && comment(k) && from > k-2 {
				from--
			}
			for comment(to) && to+1 < len(lines) && to < k+3 {
				to++
			}
			c.about = strings.Join(lines[from:to+1], " ")
			out = append(out, c)
		}
	}
	return out
}

// stems returns the words of a text that say something, without their endings.
func stems(text string) map[string]bool {
	out := map[string]bool{}
	for _, w := range word.FindAllString(strings.ToLower(camel.ReplaceAllString(text, "$1 $2")), -1) {
		for _, end := range []string{"ing", "ed", "es", "s", "e"} {
			if len(w) > len(end)+2 && strings.HasSuffix(w, end) {
				w = strings.TrimSuffix(w, end)
				break
			}
		}
		out[w] = true
	}
	return out
}

// A judge says which sections of a book a text is about.
type judge struct {
	book  *rulebook.Book
	words []map[string]bool
	in    map[string]int // sections that have a word
}

func newJudge(b *rulebook.Book) *judge {
	j := &judge{book: b, in: map[string]int{}}
	for _, s := range b.Sections {
		words := stems(s.Text)
		for w := range words {
			j.in[w]++
		}
		j.words = append(j.words, words)
	}
	return j
}

// shares reports whether a text has a word of a section that at most half of all sections have.
func (j *judge) shares(number, text string) bool {
	for k, s := range j.book.Sections {
		if s.Number != number {
			continue
		}
		for w := range stems(text) {
			if j.words[k][w] && 2*j.in[w] <= len(j.words) {
				return true
			}
		}
	}
	return false
}

// rank returns how many sections fit a text better than the one with a number, by the words that they
// share, rare ones first. Parts of that section and the section that it is part of do not count.
func (j *judge) rank(number, text string) (better int) {
	words := stems(text)
	score := make([]float64, len(j.words))
	own := 0.0
	for k, s := range j.book.Sections {
		for w := range words {
			if j.words[k][w] {
				score[k] += math.Log(float64(len(j.words)+1) / float64(j.in[w]))
			}
		}
		if score[k] /= math.Sqrt(float64(len(j.words[k]))); s.Number == number {
			own = score[k]
		}
	}
	for k, s := range j.book.Sections {
		if score[k] > own && !part(s.Number, number) && !part(number, s.Number) {
			better++
		}
	}
	return better
}

// part reports whether section a is section b or in it.
func part(a, b string) bool { return a == b || strings.HasPrefix(a, b+".") }

// following returns the number of the section after one, of the same level.
func following(b *rulebook.Book, number string) string {
	for k, s := range b.Sections {
		if s.Number != number {
			continue
		}
		for _, next := range b.Sections[k+1:] {
			if strings.Count(next.Number, ".") == strings.Count(number, ".") {
				return next.Number
			}
		}
	}
	return "1"
}

// TestRulesAreCited holds every "rules §n" of the code against the RULES.md of the game: the section
// exists and has a word in common with the comment that at most half of the sections have. Of each game, most
// citations are about their section more than about nearly all others. They would not be if the
// sections were renumbered.
func TestRulesAreCited(t *testing.T) {
	books, all := map[string]*judge{}, map[string][]citation{}
	for _, game := range rulesOf {
		if books[game] == nil {
			books[game] = newJudge(rulebook.Open(t, game))
		}
	}
	err := filepath.WalkDir("..", func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || len(d.Name()) > 2 && d.Name()[0] == '.'):
			return fs.SkipDir
		case d.IsDir() && file == filepath.Join("..", d.Name()) && !slices.Contains(folders, d.Name()):
			return fs.SkipDir // what a command has written, such as tournament
		case d.IsDir() || !slices.Contains([]string{".go", ".py", ".c", ".h", ".hpp", ".cpp", ".java", ".js", ".md"}, filepath.Ext(file)):
			return nil
		}
		path := filepath.ToSlash(strings.TrimPrefix(file, ".."+string(filepath.Separator)))
		text, err := os.ReadFile(file)
		if err != nil || path == "env/rules_test.go" {
			return err
		}
		if old := prose.FindString(string(text)); old != "" {
			t.Errorf("%s: %q: want rules §n", path, old)
		}
		for _, c := range citations(path, string(text)) {
			j := books[c.game]
			switch {
			case j == nil:
				t.Errorf("%s:%d: §%s of no game: name it, as in blockbattle rules §%[3]s", c.path, c.line, c.section)
			case j.book.Section(c.section) == nil:
				t.Errorf("%s:%d: %s has no section %s", c.path, c.line, j.book.Path, c.section)
			case filepath.Ext(path) != ".md":
				all[c.game] = append(all[c.game], c)
				if !j.shares(c.section, c.about) {
					t.Errorf("%s:%d: nothing says that this is about rules §%s, %s: %s",
						c.path, c.line, c.section, j.book.Section(c.section).Title, c.about)
				}
			}
		}
		return nil
	})
	require.NoError(t, err)
	for game, list := range all {
		require.GreaterOrEqual(t, len(list), 15, game)
		j := books[game]
		const near = 3
		right, shifted := 0, 0
		for _, c := range list {
			if j.rank(c.section, c.about) <= near {
				right++
			}
			if j.rank(following(j.book, c.section), c.about) <= near {
				shifted++
			}
		}
		require.Greater(t, 2*right, len(list), "%s: only %d of %d citations are about their section", game, right, len(list))
		require.Less(t, 2*shifted, right, "%s: this cannot tell sections apart", game)
		t.Logf("%s: %d citations, %d near their section, %d if the sections were shifted", game, len(list), right, shifted)
	}
}

func TestCitations(t *testing.T) {
	found := citations("env/blocking/x.go", "// A thing (rules §4.2). It\n// is so (§7).\nvar x = 1\n\n// tetrisduel rules §3\n")
	var short []string
	for _, c := range found {
		short = append(short, fmt.Sprint(c.line, " ", c.game, " ", c.section))
	}
	require.Equal(t, []string{"1 blocking 4.2", "2 blocking 7", "5 tetrisduel 3"}, short)
	require.Equal(t, "// A thing (rules §4.2). It // is so (§7). var x = 1", found[0].about)
	require.Empty(t, citations("README.md", "rules and §n")) // no number
	require.Equal(t, "", citations("README.md", "rules §3")[0].game)
}

var (
	link    = regexp.MustCompile(`\]\(([^)]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ (.+)$`)
)

// anchor returns the name by which a link reaches a heading.
func anchor(title string) string {
	var out strings.Builder
	for _, c := range strings.ToLower(title) {
		switch {
		case c == ' ':
			out.WriteByte('-')
		case c == '-' || c >= 'a' && c <= 'z' || c >= '0' && c <= '9':
			out.WriteRune(c)
		}
	}
	return out.String()
}

// TestRulesPages wants the same sections in every RULES.md, links that lead somewhere, and no picture that
// none of them shows.
func TestRulesPages(t *testing.T) {
	alike := []string{"In short", "Board|Field", "Pieces|Shapes|Blocks", "Moves", "A round|A half-turn|A turn|A tick", "Points",
		"End of the game", "Protocol|Interface", "Time and limits", "Example dialogue", "Random draws", "What we chose"}
	all, err := filepath.Glob("*/game.go")
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(all), 5)
	for _, file := range all {
		folder := filepath.Dir(file)
		page := filepath.Join(folder, "RULES.md")
		book := rulebook.Open(t, folder)
		for k, titles := range alike {
			s := book.Section(fmt.Sprint(k + 1))
			require.NotNil(t, s, "%s has no section %d", page, k+1)
			require.Contains(t, strings.Split(titles, "|"), s.Title, page)
		}
		anchors := map[string]bool{}
		for _, h := range heading.FindAllStringSubmatch(book.Text, -1) {
			anchors["#"+anchor(h[1])] = true
		}
		shown := map[string]bool{}
		for _, l := range link.FindAllStringSubmatch(book.Text, -1) {
			if strings.HasPrefix(l[1], "#") {
				require.True(t, anchors[l[1]], "%s: %s leads nowhere", page, l[1])
				continue
			}
			require.FileExists(t, filepath.Join(folder, l[1]), page)
			shown[filepath.Base(l[1])] = true
		}
		pictures, err := filepath.Glob(filepath.Join(folder, "pictures", "*"))
		require.NoError(t, err)
		require.NotEmpty(t, pictures)
		for _, p := range pictures {
			require.True(t, shown[filepath.Base(p)], "%s does not show %s", page, p)
		}
	}
}
