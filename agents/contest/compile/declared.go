package compile

import (
	"cmp"
	"fmt"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"blockyard/agents/contest"
)

type botFile struct{ Build, Run, Language, Dialect string }

// mostBotFile is how long bot.toml may be, in bytes: its parser goes one call deeper with each bracket.
const mostBotFile = 16 << 10

func readBotFile(text string) (says botFile, err error) {
	if len(text) > mostBotFile {
		return says, refuse("bot.toml: %d bytes, want at most %d", len(text), mostBotFile)
	}
	meta, err := toml.Decode(strings.TrimPrefix(text, "\ufeff"), &says)
	if rest := meta.Undecoded(); err == nil && len(rest) > 0 {
		err = fmt.Errorf("%q is no key", rest[0].String())
	}
	if err != nil {
		return says, refuse(`bot.toml: %v: want build, run, language and dialect, each a text: run = "./bot"`, err)
	}
	says.Build, says.Run = strings.TrimSpace(says.Build), strings.TrimSpace(says.Run)
	return says, nil
}

// declared builds and starts a bot as bot.toml says. ok is false if there is none, or if it says the language only.
func (c *compiler) declared() (ok bool, err error) {
	buildFile, found := c.find([]string{"bot.toml"})
	if !found {
		return false, nil
	}
	says, err := readBotFile(c.text(buildFile))
	if err != nil {
		return false, err
	}
	c.language, c.dialect = says.Language, says.Dialect
	switch {
	case says.Run == "" && says.Build != "":
		return false, refuse(`bot.toml says how to build but not what to run: want run = "COMMAND"`)
	case says.Run == "":
		c.forced = languageThat(func(l language) bool { return strings.EqualFold(l.Name, c.language) })
		if c.forced == nil && (c.language != "" || c.dialect == "") {
			err = refuse(`bot.toml: want run = "COMMAND", or the language of the list`)
		}
		return false, err
	}
	c.language = cmp.Or(c.language, "bot.toml")
	argv := contest.Command(says.Run)
	c.begin(buildFile, argv...)
	if says.Build != "" {
		if err := c.in(path.Dir(buildFile), contest.Command(says.Build)...); err != nil {
			return false, err
		}
	}
	if strings.Contains(argv[0], "/") && !filepath.IsAbs(argv[0]) {
		file := filepath.Join(path.Dir(buildFile), argv[0])
		argv[0] = filepath.Join(c.dir, file)
		if !c.isFile(file) {
			return false, refuse("bot.toml: run = %q: there is no such file after the build", says.Run)
		}
		if !machineCode(argv[0]) {
			c.unixLines(file)
		}
		c.fail(c.root.Chmod(file, 0o755))
	}
	return c.err == nil, c.err
}

// unixLines takes carriage returns from the lines of a script, where they would be part of words.
func (c *compiler) unixLines(name string) {
	text := strings.TrimPrefix(c.text(name), "\ufeff")
	if c.err == nil && (strings.Contains(text, "\r\n") || text != c.text(name)) {
		c.err = c.write(name, strings.ReplaceAll(text, "\r\n", "\n"), 0o755)
	}
}

// interpreters are what the first line of a script may name, by how the name begins.
var interpreters = [][]string{{"python2", "python2"}, {"python", "python3", "python"}, {"node", "node", "nodejs"}}

// uploaded starts the file that the contest took whatever its language, if it is there: the one in the fewest folders,
// and of several for several systems the one for Linux. A program for another system is built from its source.
func (c *compiler) uploaded() (ok bool, err error) {
	var found []string
	foreign := ""
	for _, s := range c.seen {
		switch name := filepath.Join(c.dir, s.name); {
		case c.uploads.Program == "" || path.Base(s.name) != c.uploads.Program:
		case machineCode(name) && !runsHere(name):
			foreign = s.name
		default:
			found = append(found, s.name)
		}
	}
	if len(found) == 0 {
		if _, _, err := c.detect(); foreign != "" && err != nil {
			return false, refuse("%s is a program for another system than %s/%s: hand in its source", foreign,
				runtime.GOOS, runtime.GOARCH)
		}
		return false, nil
	}
	if own := func(name string) bool { return !aside.MatchString(name) }; !slices.ContainsFunc(found, own) {
		_, files, err := c.detect()
		if err == nil && slices.ContainsFunc(files, own) { // the contest's sample is not what the author wrote
			return false, nil
		}
	} else {
		found = narrow(found, own)
	}
	found = narrow(highest(found), func(name string) bool { return strings.Contains(strings.ToLower(name), runtime.GOOS) })
	c.language = c.uploads.Program
	if name := filepath.Join(c.dir, found[0]); machineCode(name) {
		c.begin(found[0], name)
		return true, c.root.Chmod(found[0], 0o755)
	}
	makefile, ok := c.above(found[0], "[Mm]akefile")
	if _, err := exec.LookPath("make"); ok && err == nil {
		c.make(path.Dir(makefile))
	}
	c.script(found[0])
	return true, c.err
}

var startsJava = regexp.MustCompile(`(?m)\bjava\b.*-(cp|classpath)|\bjava [A-Z]|['"]java['"]`)

// script starts a script with the interpreter of its first line, and compiles the Java beside it that it starts.
func (c *compiler) script(buildFile string) {
	c.unixLines(buildFile)
	text := c.text(buildFile)
	first, _, _ := strings.Cut(text, "\n")
	words := strings.Fields(strings.TrimPrefix(first, "#!"))
	switch {
	case !strings.HasPrefix(first, "#!") || len(words) == 0:
		words = []string{"sh"}
		if regexp.MustCompile(`(?m)^(import|from) \w`).MatchString(text) {
			words = []string{"python3"}
		}
	case path.Base(words[0]) == "env" && len(words) > 1:
		words = words[1:]
	}
	names := []string{path.Base(words[0])}
	for _, i := range interpreters {
		if strings.HasPrefix(names[0], i[0]) {
			names = i[1:]
			break
		}
	}
	run, err := exec.LookPath(words[0])
	if err != nil || len(names) > 1 {
		run = c.tool(path.Base(words[0])+" (the first line of "+buildFile+")", names...)
	}
	c.language = cmp.Or(c.language, path.Base(run))
	c.begin(buildFile, append(append([]string{run}, words[1:]...), path.Base(buildFile))...)
	if strings.HasPrefix(names[0], "python") {
		c.checkPython(run, "", []string{buildFile}, func(python string) { c.argv[0] = python })
	}
	sources, _ := filepath.Glob(filepath.Join(c.dir, c.begins, "*.java"))
	if len(sources) > 0 && startsJava.MatchString(text) {
		c.run(slices.Concat([]string{c.tool("Java", "javac"), "-nowarn", "-encoding", "UTF-8", "-cp", c.classPath(), "-d",
			filepath.Join(c.dir, c.begins)}, sources)...)
	}
}

// jar starts a Java archive that says which class begins, if there is just one and no source.
func (c *compiler) jar() (ok bool, err error) {
	var jars []string
	for _, s := range c.seen {
		if languageOf(s.name) != nil {
			return false, nil
		}
		if strings.EqualFold(path.Ext(s.name), ".jar") {
			jars = append(jars, s.name)
		}
	}
	if len(jars) != 1 {
		return false, nil
	}
	c.language = "Java"
	c.onJVM(jars[0], "-jar", path.Base(jars[0]))
	return true, c.err
}
