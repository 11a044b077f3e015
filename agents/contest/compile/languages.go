package compile

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
)

type language struct {
	Name       string
	Endings    []string       // of its source files
	BuildFiles []string       `toml:"build_files"` // patterns of build files that only it has
	Main       *regexp.Regexp // what a file must have to be started; nil for nothing
	Needs      string         // that in words
	Sign       *regexp.Regexp // what the file to start has more often than others; nil if nothing tells
	Tools      []string       // the first of these that is here builds or starts it
	Flags      []string       // of the tool, in front of the files
	Standards  []string       // flags for its versions, the newest first: an old program may need an old one
	build      builder
}

// A builder compiles files of a language, if need be, and says how the program is started. See compiler.err.
type builder func(c *compiler, l *language, files []string)

// usual are the names, without ending and in small letters, of files to start.
var usual = []string{"main", "bot", "mybot", "index", "app", "__main__", "run", "botrun", "botstarter", "program"}

//go:embed languages.toml
var languagesText string

// languages are in the order in which they are taken if all else is equal.
var languages []language

func readLanguages() {
	var all struct{ Language []language }
	if _, err := toml.Decode(languagesText, &all); err != nil {
		panic(err) // a file of the program
	}
	languages = all.Language
	for k := range languages {
		l := &languages[k]
		if l.build = builds[l.Name]; l.build == nil {
			l.build = started(interpreted)
		}
	}
}

// builds are how the languages are built that are not started as they are.
var builds = map[string]builder{
	"Python": python, "Go": started(golang), "Rust": rust, "Java": started(java), "Kotlin": started(kotlin),
	"Scala": started(scala), "C#": csharp, "JavaScript": javascript, "TypeScript": started(typescript), "Haskell": haskell,
	"C++": native, "C": native,
}

func languageOf(name string) *language {
	if strings.HasSuffix(name, ".d.ts") { // it only declares what others have
		return nil
	}
	ending := strings.ToLower(path.Ext(name))
	return languageThat(func(l language) bool { return slices.Contains(l.Endings, ending) })
}

func languageThat(is func(l language) bool) *language {
	if k := slices.IndexFunc(languages, is); k >= 0 {
		return &languages[k]
	}
	return nil
}

// tool returns the first of several programs that this machine has.
func (c *compiler) tool(what string, names ...string) string {
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	c.fail(refuse("needs %s, which this machine does not have: %s is not found", what, strings.Join(names, " or ")))
	return names[0]
}

// oldPython is what Python 3 says of a program for Python 2.
var oldPython = regexp.MustCompile(`Missing parentheses in call|multiple exception types|TabError|` +
	`leading zeros|invalid (decimal|hexadecimal) literal|backquote|Did you mean print`)

// newPython is what a program for Python 2 uses although Python 3 can read it, and bothPythons what one for both has.
var (
	newPython = regexp.MustCompile(`(?m)\b(raw_input|xrange|unicode)\s*\(|\.(iteritems|has_key)\(|` +
		`^\s*import (Queue|cPickle)\b`)
	bothPythons = regexp.MustCompile(`NameError|ImportError|version_info|\bsix\b|\b(raw_input|xrange|unicode)\s*=`)
)

func interpreted(c *compiler, l *language, files []string, run, main string) {
	c.begin(main, run, path.Base(main))
	if l.Flags != nil {
		c.run(slices.Concat([]string{run}, l.Flags, []string{main})...)
	}
}

func python(c *compiler, l *language, files []string) {
	run := c.tool(l.Name, l.Tools...)
	main, wrapped := c.wrapped(files)
	if main == "" {
		main = c.start(l, files)
	}
	if c.err != nil {
		return
	}
	checked := narrow(files, func(name string) bool { return name == main || c.takenIn(name, files) })
	old, paths := c.oldImport(run, main, checked), []string(nil)
	if old != "" && len(c.matching(checked, iteratesInput)) > 0 {
		old, paths = "", []string{c.tool("Python", "env"), "PYTHONPATH=" + strings.Join(c.packages(main, checked), ":")}
	}
	c.checkPython(run, old, checked, func(python string) {
		folder := path.Dir(main)
		if c.isFile(path.Join(folder, "__init__.py")) && path.Base(main) == "__main__.py" {
			c.begin(folder, python, "-u", "-m", path.Base(folder))
			return
		}
		c.begin(main, slices.Concat(paths, []string{python, "-u"}, wrapped, []string{path.Base(main)})...)
	})
}

var importing = regexp.MustCompile(`(?m)^(?:import[ \t]+(\w+)|from[ \t]+(\w+)(?:\.\w+)*[ \t]+import\b)`)

// iteratesInput is what Python 2 does not do before it has 8 KiB of requests: such a bot is for Python 3, which needs
// the folders of its packages to find what they import by name alone.
var iteratesInput = regexp.MustCompile(`\bfor\s+\w+\s+in\s+(sys\.)?stdin\s*:`)

// packages lists the folders of packages below that of the file to start.
func (c *compiler) packages(main string, files []string) (list []string) {
	for _, name := range files {
		dir := path.Dir(name)
		if full := filepath.Join(c.dir, dir); dir != path.Dir(main) && !slices.Contains(list, full) &&
			c.isFile(path.Join(dir, "__init__.py")) {
			list = append(list, full)
		}
	}
	return list
}

// notFound ends well if Python itself has no module of a name.
const notFound = "import importlib.util, sys; sys.exit(importlib.util.find_spec(sys.argv[1]) is not None)"

// oldImport says where a module of a package imports another one of the package as only Python 2 does, by its name
// alone; "" if none does.
func (c *compiler) oldImport(run, main string, files []string) string {
	isModule := func(dir, name string) bool {
		return c.isFile(path.Join(dir, name+".py")) || c.isFile(path.Join(dir, name, "__init__.py"))
	}
	for _, name := range files {
		dir, text := path.Dir(name), c.text(name)
		if dir == path.Dir(main) || !c.isFile(path.Join(dir, "__init__.py")) || strings.Contains(text, "sys.path") {
			continue
		}
		for _, at := range importing.FindAllStringSubmatchIndex(text, -1) {
			module := text[max(at[2], at[4]):max(at[3], at[5])]
			if isModule(dir, module) && !isModule(path.Dir(main), module) &&
				c.in(".", run, "-I", "-c", notFound, module) == nil {
				return fmt.Sprintf("%s:%d: imports %s, which is beside it, without a dot", name,
					1+strings.Count(text[:at[0]], "\n"), module)
			}
		}
	}
	return ""
}

// python2 lists the programs that may be Python 2.
func python2() []string {
	found, _ := filepath.Glob(filepath.Join(os.Getenv("PYENV_ROOT"), "versions/2.*/bin/python2")) // "" finds none
	return append([]string{"python2", "python2.7"}, found...)
}

// checkPython reads files with an interpreter, or with Python 2 if they are for that, and starts them with it. old says
// why they are, "" if only reading them tells.
func (c *compiler) checkPython(run, old string, files []string, start func(python string)) {
	if c.err != nil {
		return
	}
	start(run)
	c.run(append([]string{run, "-m", "py_compile"}, files...)...)
	refusal := new(Refusal)
	refused := errors.As(c.err, &refusal) && oldPython.MatchString(refusal.Output)
	if old != "" && len(c.matching(files, bothPythons)) == 0 && c.err == nil {
		refusal = &Refusal{Why: old}
		c.err, refused = refusal, true
	}
	if !refused && (c.err != nil || len(c.matching(files, newPython)) == 0 || len(c.matching(files, bothPythons)) > 0) {
		return
	}
	for _, name := range python2() {
		if old, err := exec.LookPath(name); err == nil && c.in(".", old, "-c", "pass") == nil {
			c.language, c.err = "Python 2", nil
			start(old)
			c.run(append([]string{old, "-m", "py_compile"}, files...)...)
			return
		}
	}
	if refused {
		c.language = "Python 2"
		refusal.Why = "is written for Python 2, which this machine does not have: " +
			strings.TrimPrefix(refusal.Why, "does not compile: ")
	}
}

// wrapped returns the only file with a class that the contest runs, and the program that runs it.
func (c *compiler) wrapped(files []string) (main string, wrapper []string) {
	if c.uploads.Class == nil {
		return "", nil
	}
	found := c.matching(files, c.uploads.Class)
	if len(found) != 1 || regexp.MustCompile(`sys\.stdin|\binput\s*\(`).MatchString(c.text(found[0])) {
		return "", nil
	}
	const name = ".host/wrapper.py"
	if c.root.MkdirAll(path.Dir(name), 0o755) != nil || c.root.WriteFile(name, []byte(c.uploads.Wrapper), 0o644) != nil {
		return "", nil
	}
	return found[0], []string{filepath.Join(c.dir, name)}
}

var startScript = regexp.MustCompile(`^node\s+(--?\S+\s+)*([^\s-]\S*)$`)

func javascript(c *compiler, l *language, files []string) {
	node := c.tool(l.Name, l.Tools...)
	if buildFile, ok := c.find(l.BuildFiles); ok {
		var says struct {
			Main    string
			Scripts struct{ Start string }
		}
		if err := json.Unmarshal([]byte(c.text(buildFile)), &says); err != nil {
			c.fail(refuse("%s is no JSON: %v", buildFile, err))
			return
		}
		names := []string{says.Main, says.Main + ".js", says.Main + "/index.js"}
		if m := startScript.FindStringSubmatch(says.Scripts.Start); m != nil && m[2] != "." {
			names = append([]string{m[2], m[2] + ".js", m[2] + "/index.js"}, names...)
		}
		for _, name := range names {
			main := path.Join(path.Dir(buildFile), name)
			if !strings.HasPrefix(name, "/") && c.isFile(main) {
				c.begin(buildFile, node, strings.TrimPrefix(main, path.Dir(buildFile)+"/"))
				c.run(node, "--check", main)
				return
			}
		}
	}
	started(interpreted)(c, l, files)
}

// typescript is translated as a whole. An error of types, such as one of a missing @types/node, does not stop it.
func typescript(c *compiler, l *language, files []string, tsc, main string) {
	node := c.tool("Node.js", "node", "nodejs")
	if c.err != nil {
		return
	}
	script := strings.TrimSuffix(main, ".ts") + ".js"
	if c.run(slices.Concat([]string{tsc}, l.Flags, []string{main})...); c.isFile(script) {
		c.err = nil
	}
	c.begin(main, node, path.Base(script))
	c.run(node, "--check", script)
}
