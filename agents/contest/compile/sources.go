package compile

import (
	"cmp"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// page says all that an author has to know; refusals of what cannot be found name it.
const page = "agents/SUBMISSIONS.md"

// Names of folders and files that are no part of a bot. What is left out is not even unpacked; what is unseen may be
// needed by a build, but says nothing about the language or the file to start.
var (
	leftOut = regexp.MustCompile(`(?i)(^|/)(__MACOSX|\._[^/]*|\.DS_Store|Thumbs\.db|desktop\.ini|\.git|\.svn|\.hg|` +
		`\.metadata|\.idea|\.vs|\.vscode|\.gradle|\.venv|venv|__pycache__)(/|$)`)
	unseen = regexp.MustCompile(`(?i)(^|/)(\.[^/]*|node_modules|obj|bin|target|build|dist|vendor|classes|tests?|spec)/` +
		`|(^|/)(\.[^/]*|setup\.py|conftest\.py|test_[^/]*|[^/]*_test\.[^/]*)$`)
	unseenJava = regexp.MustCompile(`[^/]Tests?\.(java|kt|scala|cs)$`)
)

// A source is a file that is seen.
type source struct {
	name string // below the folder of the sources, with / between its parts
	size int64
}

// look returns the files that are seen below a folder, those in fewer folders first.
func look(root string) (list []source, err error) {
	err = filepath.WalkDir(root, func(name string, d os.DirEntry, err error) error {
		local, _ := filepath.Rel(root, name)
		local = filepath.ToSlash(local)
		switch {
		case err != nil || local == ".":
			return err
		case d.IsDir() && unseen.MatchString(local+"/"):
			return filepath.SkipDir
		case !d.Type().IsRegular() || unseen.MatchString(local) || unseenJava.MatchString(local):
			return nil
		}
		info, err := d.Info()
		if err == nil {
			list = append(list, source{local, info.Size()})
		}
		return err
	})
	slices.SortStableFunc(list, func(a, b source) int { return cmp.Compare(depth(a.name), depth(b.name)) })
	return list, err
}

func depth(name string) int { return strings.Count(name, "/") }

// stem is a file's name without folders and ending, in small letters.
func stem(name string) string {
	base := strings.ToLower(path.Base(name))
	return strings.TrimSuffix(base, path.Ext(base))
}

// isUsual reports whether a file has a name that bots begin with in its language.
func (l *language) isUsual(name string) bool { return slices.Contains(l.usual, stem(name)) }

// detect returns the language of the bot: that of the build file in the fewest folders, or else of the file with a
// usual name at the top, or else of most of the code.
func (c *compiler) detect() (*language, []string, error) {
	type found struct {
		files      []string
		bytes      int64
		mark, name int // depth of its build file, and 0 for a usual name at the top
	}
	const none = 1 << 20
	all := map[*language]*found{}
	for _, s := range c.seen {
		l := languageOf(s.name)
		if l == nil {
			continue
		}
		f := all[l]
		if f == nil {
			f = &found{mark: none, name: 1}
			all[l] = f
			if mark, ok := c.mark(l.marks); ok {
				f.mark = depth(mark)
			}
		}
		f.files, f.bytes = append(f.files, s.name), f.bytes+s.size
		if depth(s.name) == 0 && l.isUsual(s.name) {
			f.name = 0
		}
	}
	best := c.forced
	if best != nil && all[best] == nil {
		return nil, nil, refuse("bot.toml says %s, but no file ends in %s", best.name, strings.Join(best.endings, " or "))
	}
	for k := range languages {
		l := &languages[k]
		if f := all[l]; f != nil && c.forced == nil && (best == nil || cmp.Or(cmp.Compare(f.mark, all[best].mark),
			cmp.Compare(f.name, all[best].name), cmp.Compare(all[best].bytes, f.bytes)) < 0) {
			best = l
		}
	}
	if best != nil {
		return best, all[best].files, nil
	}
	var known []string
	for _, l := range languages {
		known = append(known, l.name+" ("+strings.Join(l.endings, ", ")+")")
	}
	return nil, nil, refuse("holds no source file of %s; see %s", strings.Join(known, ", "), page)
}

// mark returns the build file in the fewest folders, of some patterns.
func (c *compiler) mark(patterns []string) (string, bool) {
	for _, s := range c.seen {
		for _, p := range patterns {
			if ok, _ := path.Match(p, path.Base(s.name)); ok {
				return s.name, true
			}
		}
	}
	return "", false
}

// text returns the text of a file, "" if it cannot be read.
func (c *compiler) text(name string) string {
	text, _ := os.ReadFile(filepath.Join(c.dir, name))
	return string(text)
}

// matching returns the files whose text matches.
func (c *compiler) matching(files []string, pattern *regexp.Regexp) (out []string) {
	for _, name := range files {
		if pattern == nil || pattern.MatchString(c.text(name)) {
			out = append(out, name)
		}
	}
	return out
}

// start returns the file with which a program begins: the only one that can, or the one of a usual name in the fewest
// folders, or the only one with a usual sign of such files.
func (c *compiler) start(l *language, files []string) (string, error) {
	if len(files) == 1 {
		return files[0], nil
	}
	found := c.matching(files, l.main)
	if len(found) == 0 {
		return "", refuse("none of its %d source files has %s: %s; see %s", len(files), l.needs, some(files), page)
	}
	if len(found) > 1 {
		var usual []string
		for _, name := range found {
			if l.isUsual(name) && (len(usual) == 0 || depth(name) == depth(usual[0])) {
				usual = append(usual, name)
			}
		}
		if len(usual) > 0 && depth(usual[0]) == 0 { // the names are in the order of their weight
			slices.SortStableFunc(usual, func(a, b string) int {
				return slices.Index(l.usual, stem(a)) - slices.Index(l.usual, stem(b))
			})
			usual = usual[:1]
		}
		if len(usual) > 0 {
			found = usual
		}
	}
	for _, sign := range l.signs {
		if have := c.matching(found, sign); len(found) > 1 && len(have) > 0 {
			found = have
		}
	}
	if len(found) > 1 {
		return "", refuse("%d of its %d source files can be the one to start: %s; call one %s at the top, "+
			"or say so in bot.toml (%s)", len(found), len(files), some(found), l.usual[0]+l.endings[0], page)
	}
	return found[0], nil
}

// toolAndStart returns the tool that builds a language, as tool does, and the file with which the program begins.
func (c *compiler) toolAndStart(files []string, what string, names ...string) (found, main string, err error) {
	if found, err = tool(what, names...); err != nil {
		return "", "", err
	}
	main, err = c.start(languageOf(files[0]), files)
	return found, main, err
}

// some names at most five files.
func some(files []string) string {
	const most = 5
	if len(files) > most {
		return strings.Join(files[:most], ", ") + ", …"
	}
	return strings.Join(files, ", ")
}
