package compile

import (
	"cmp"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// Names of folders and files that are no part of a bot. What is left out is not even unpacked; what is unseen may be
// needed by a build, but says nothing about the language or the file to start.
var (
	leftOut = regexp.MustCompile(`(?i)(^|/)(__MACOSX|\._[^/]*|\.DS_Store|Thumbs\.db|desktop\.ini|\.git|\.svn|\.hg|` +
		`\.metadata|\.idea|\.vs|\.vscode|\.gradle|\.venv|venv|__pycache__)(/|$)`)
	unseen = regexp.MustCompile(`(?i)(^|/)(\.[^/]*|node_modules|obj|bin|target|build|dist|vendor|classes|tests?|spec)/` +
		`|(^|/)(\.[^/]*|setup\.py|conftest\.py|test_[^/]*|[^/]*_test\.[^/]*|[^/]*\.min\.js)$`)
	// aside are folders whose files begin a bot only if no others can.
	aside = regexp.MustCompile(`(?i)(^|/)(samples?|examples?|demos?|docs?|old|back-?up|archive|legacy|tools?|scripts?)/`)

	unseenJava = regexp.MustCompile(`[^/]Tests?\.(java|kt|scala|cs)$`)
)

// LeftOut reports whether a file or folder of a submission, by its path there, is no part of the bot.
func LeftOut(path string) bool { return leftOut.MatchString(filepath.ToSlash(path)) }

// A source is a file that is seen.
type source struct {
	name string // below the folder of the sources, with / between its parts
	size int64
}

// look returns the files that are seen below a folder, those in fewer folders first, without the contest's kit.
func look(root string, kit []string) (list []source, err error) {
	err = filepath.WalkDir(root, func(name string, d os.DirEntry, err error) error {
		local, _ := filepath.Rel(root, name)
		local = filepath.ToSlash(local)
		switch {
		case err != nil || local == ".":
			return err
		case d.IsDir() && unseen.MatchString(local+"/"):
			return filepath.SkipDir
		case !d.Type().IsRegular() || unseen.MatchString(local) || unseenJava.MatchString(local) ||
			slices.Contains(kit, d.Name()):
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

func stem(name string) string {
	base := strings.ToLower(path.Base(name))
	return strings.TrimSuffix(base, path.Ext(base))
}

func (c *compiler) names() []string {
	if own := strings.ToLower(c.uploads.Program); own != "" {
		return append([]string{own}, usual...)
	}
	return usual
}

func (c *compiler) isUsual(name string) bool { return slices.Contains(c.names(), stem(name)) }

// detect returns the language of the bot: that of a build file at the top, of a file with a usual name there, of the
// build file in the fewest folders, or of most of the code.
func (c *compiler) detect() (*language, []string, error) {
	type found struct {
		files []string
		bytes int64 // of those that do not lie aside
		place int   // 0 for a build file at the top, 1 for a usual name there, more for a build file below
	}
	const nowhere = 1 << 20
	all := map[*language]*found{}
	for _, s := range c.seen {
		l := languageOf(s.name)
		if l == nil {
			continue
		}
		f := all[l]
		if f == nil {
			f = &found{place: nowhere}
			all[l] = f
			if buildFile, ok := c.find(l.BuildFiles); ok && c.compiles(buildFile) {
				f.place = depth(buildFile) + min(depth(buildFile), 1)
			}
		}
		f.files = append(f.files, s.name)
		if !aside.MatchString(s.name) {
			f.bytes += s.size
		}
		if depth(s.name) == 0 && c.isUsual(s.name) {
			f.place = min(f.place, 1)
		}
	}
	best := c.forced
	if best != nil && all[best] == nil {
		return nil, nil, refuse("bot.toml says %s, but no file ends in %s", best.Name, strings.Join(best.Endings, " or "))
	}
	var known []string
	for k := range languages {
		l := &languages[k]
		known = append(known, l.Name+" ("+strings.Join(l.Endings, ", ")+")")
		if f := all[l]; f != nil && c.forced == nil && (best == nil || cmp.Or(cmp.Compare(f.place, all[best].place),
			cmp.Compare(all[best].bytes, f.bytes)) < 0) {
			best = l
		}
	}
	if best == nil {
		return nil, nil, lost("holds no source file of %s", strings.Join(known, ", "))
	}
	return best, all[best].files, nil
}

// makesCode is what a Makefile of a program in C or C++ mentions; others may have one to start or to pack their bot.
var makesCode = regexp.MustCompile(`\b(cc|gcc|g\+\+|c\+\+|clang)\b|\$[({](CC|CXX)[)}]|\.(o|obj|c|cc|cpp|cxx)\b`)

func (c *compiler) compiles(buildFile string) bool {
	return !strings.EqualFold(path.Base(buildFile), "Makefile") || makesCode.MatchString(c.text(buildFile))
}

// find returns the file in the fewest folders, of some patterns.
func (c *compiler) find(patterns []string) (string, bool) {
	for _, s := range c.seen {
		if matches(s.name, patterns) {
			return s.name, true
		}
	}
	return "", false
}

func matches(name string, patterns []string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { ok, _ := path.Match(p, path.Base(name)); return ok })
}

func (c *compiler) isFile(name string) bool {
	info, err := c.root.Stat(name)
	return err == nil && info.Mode().IsRegular()
}

// text returns the text of a file, "" if it cannot be read or is larger than a submission may be.
func (c *compiler) text(name string) string {
	if text, ok := c.texts[name]; ok {
		return text
	}
	info, err := c.root.Stat(name)
	if err != nil || !info.Mode().IsRegular() || info.Size() > c.limits.Size {
		return ""
	}
	text, _ := c.root.ReadFile(name)
	c.texts[name] = string(text)
	return string(text)
}

// write writes a file of the submission.
func (c *compiler) write(name, text string, mode os.FileMode) error {
	c.texts[name] = text
	return c.root.WriteFile(name, []byte(text), mode)
}

func (c *compiler) matching(files []string, pattern *regexp.Regexp) []string {
	return slices.DeleteFunc(slices.Clone(files), func(name string) bool {
		return pattern != nil && !pattern.MatchString(c.text(name))
	})
}

// narrow returns the names to keep, or all of them if there are none.
func narrow(names []string, keep func(name string) bool) []string {
	kept := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !keep(name) })
	if len(kept) == 0 {
		return names
	}
	return kept
}

// highest returns the files in the fewest folders.
func highest(names []string) []string {
	least := depth(slices.MinFunc(names, func(a, b string) int { return depth(a) - depth(b) }))
	return narrow(names, func(name string) bool { return depth(name) == least })
}

// namedMain is a comment that names its file as the one to start, in a language that has no main.
var namedMain = regexp.MustCompile(`(?m)(//|#|/\*|--|^[ \t]*\*).*\b__main__\b`)

// start returns the file with which a program begins: the only one that can or says so, or the one of a usual name in
// the fewest folders, or one that no other takes in, with a usual sign of such files, in the fewest folders.
func (c *compiler) start(l *language, files []string) string {
	if len(files) == 1 {
		return files[0]
	}
	if l.Main == nil && l.Name != "Python" {
		if named := c.matching(files, namedMain); len(named) == 1 {
			return named[0]
		}
	}
	found := c.matchingCode(files, l.Main)
	if len(found) == 0 {
		found = c.matching(files, l.Main)
	}
	if len(found) == 0 {
		c.fail(lost("none of its %d source files has %s: %s", len(files), l.Needs, some(files)))
		return ""
	}
	found = narrow(found, func(name string) bool { return !aside.MatchString(name) })
	if l.Main == nil {
		found = narrow(found, func(name string) bool { return stem(name) != "__init__" })
		found = narrow(found, func(name string) bool { return !c.isLibrary(name, files) })
	}
	if slices.ContainsFunc(found, c.isUsual) {
		found = highest(narrow(found, c.isUsual))
		if depth(found[0]) == 0 { // the names are in the order of their weight
			weight := func(name string) int { return slices.Index(c.names(), stem(name)) }
			found = []string{slices.MinFunc(found, func(a, b string) int { return weight(a) - weight(b) })}
		}
		found = narrow(found, func(name string) bool { return c.isUsual(path.Dir(name)) })
	} else {
		found = narrow(found, func(name string) bool { return !c.takenIn(name, files) })
	}
	if signed := c.matching(found, l.Sign); len(signed) > 0 {
		found = signed
	}
	if found = highest(found); len(found) > 1 {
		c.fail(lost("%d of its %d source files can be the one to start: %s; call one main%s at the top, "+
			"or say so in bot.toml", len(found), len(files), some(found), l.Endings[0]))
	}
	return found[0]
}

// taking is what imports or includes something: the rest of the line, from the names on.
var taking = regexp.MustCompile(`(?m)(?:^|[;:{])[ \t]*(?:import|use|require)[ \t]+(.+)$` +
	`|(?:^|[;:])[ \t]*from[ \t]+(\S+[ \t]+import\b.*)$` +
	`|\b(?:from|import)\s*\(?\s*(['"].*)$` +
	`|\b(?:require\w*|include\w*|autoload|load|dofile|import_module|__import__)\b[^'"<\n]{0,40}(['"<].*)$`)

// remark begins a comment behind what is imported.
var remark = regexp.MustCompile(`(^|\s)(#|//|--).*$`)

// takers returns the other files that import or include a file, by its name without ending.
func (c *compiler) takers(name string, files []string) []string {
	if c.takes == nil {
		c.takes = map[string][]string{}
		for _, other := range files {
			for _, line := range taking.FindAllStringSubmatch(c.text(other), -1) {
				names := remark.ReplaceAllString(strings.Join(line[1:], ""), "")
				for _, word := range strings.FieldsFunc(names, func(r rune) bool { return !inName(r) }) {
					if by := c.takes[word]; len(by) == 0 || by[len(by)-1] != other {
						c.takes[word] = append(by, other)
					}
				}
			}
		}
	}
	base := strings.TrimSuffix(path.Base(name), path.Ext(name))
	return slices.DeleteFunc(slices.Clone(c.takes[base]), func(other string) bool { return other == name })
}

// takenIn reports whether another file imports or includes a file.
func (c *compiler) takenIn(name string, files []string) bool { return len(c.takers(name, files)) > 0 }

// readsInput is how a bot in an interpreted language gets its requests.
var readsInput = regexp.MustCompile(`(?i)stdin|\binput\s*\(|readFileSync\(0|\bgets\b`)

// startsAlone is how a file that can be imported says what it does when it is started.
var startsAlone = regexp.MustCompile(`__name__\s*==\s*['"]__main__['"]|require\.main\s*===?\s*module|` +
	`__FILE__\s*==\s*\$(0|PROGRAM_NAME)`)

// aTool is a file with which an author trains or tries a bot.
var aTool = regexp.MustCompile(`(?i)train|test|eval|bench|tun(e|ing)|simul|arena|debug|plot|visual|profil|replay|` +
	`learn|optimi|compare|local|self_?play`)

// isLibrary reports whether another file, which this one does not import, imports a file. A bot that can be started
// and that only tools of its author beside it or below import is none.
func (c *compiler) isLibrary(name string, files []string) bool {
	bot := startsAlone.MatchString(c.text(name)) && readsInput.MatchString(c.text(name))
	tool := func(other string) bool { return depth(other) >= depth(name) && aTool.MatchString(path.Base(other)) }
	return slices.ContainsFunc(c.takers(name, files), func(other string) bool {
		return !slices.Contains(c.takers(other, files), name) && !(bot && tool(other))
	})
}

func inName(r rune) bool { return r == '_' || r == '-' || unicode.IsLetter(r) || unicode.IsDigit(r) }

// started returns what builds with the tool of a language, once the file with which the program begins is found.
func started(build func(c *compiler, l *language, files []string, tool, main string)) builder {
	return func(c *compiler, l *language, files []string) {
		tool, main := c.tool(l.Name, l.Tools...), c.start(l, files)
		if c.err == nil {
			build(c, l, files, tool, main)
		}
	}
}

func some(files []string) string {
	const most = 5
	if len(files) > most {
		files = append(slices.Clone(files[:most]), "…")
	}
	return strings.Join(files, ", ")
}
