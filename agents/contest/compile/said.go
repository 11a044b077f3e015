package compile

import (
	"bytes"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"blockyard/agents/contest"
)

// said builds and starts a bot as its author says in bot.toml. ok is false if there is none, or if it says no more than
// the language.
func (c *compiler) said() (ok bool, err error) {
	mark, found := c.mark([]string{"bot.toml"})
	if !found {
		return false, nil
	}
	says := map[string]string{}
	for k, line := range strings.Split(strings.TrimPrefix(c.text(mark), "\ufeff"), "\n") {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		key, text, _ := strings.Cut(line, "=")
		key, text = strings.TrimSpace(key), strings.TrimSpace(text)
		value, err := strconv.QuotedPrefix(text)
		if err == nil {
			value, err = strconv.Unquote(value)
		} else if m := regexp.MustCompile(`^'([^']*)'`).FindStringSubmatch(text); m != nil {
			value, err = m[1], nil
		}
		if err != nil || !slices.Contains([]string{"build", "run", "language"}, key) {
			return false, refuse(`bot.toml:%d: %.60q: want build, run or language, and a text: run = "./bot" (%s)`,
				k+1, line, page)
		}
		says[key] = value
	}
	c.language = says["language"]
	if says["run"] == "" && says["build"] == "" {
		if c.forced = called(c.language); c.forced == nil {
			return false, refuse(`bot.toml: want run = "COMMAND" or the language of the list in %s`, page)
		}
		return false, nil
	}
	if says["run"] == "" {
		return false, refuse(`bot.toml says how to build but not what to run: want run = "COMMAND" (%s)`, page)
	}
	if c.language == "" {
		c.language = "bot.toml"
	}
	argv := contest.Command(says["run"])
	c.begin(mark, argv...)
	if says["build"] != "" {
		if err := c.in(path.Dir(mark), contest.Command(says["build"])...); err != nil {
			return false, err
		}
	}
	if strings.Contains(argv[0], "/") && !filepath.IsAbs(argv[0]) {
		argv[0] = filepath.Join(c.program.Dir, argv[0])
		if info, err := os.Stat(argv[0]); err != nil || info.IsDir() {
			return false, refuse("bot.toml: run = %q: there is no such file after the build", says["run"])
		}
		_ = os.Chmod(argv[0], 0o755)
	}
	return true, nil
}

// interpreters are what the first line of a script may name, by how the name begins.
var interpreters = [][]string{{"python2", "python2"}, {"python", "python3", "python"}, {"node", "node", "nodejs"}}

// uploaded starts the file that the contest took whatever its language, if it is there.
func (c *compiler) uploaded() (ok bool, err error) {
	mark, found := "", false
	if c.uploads.Program != "" {
		mark, found = c.mark([]string{c.uploads.Program})
	}
	if !found {
		return false, nil
	}
	c.language = c.uploads.Program
	name := filepath.Join(c.dir, mark)
	if machineCode(name) {
		c.begin(mark, name)
		return true, os.Chmod(name, 0o755)
	}
	if makefile, ok := c.mark([]string{"[Mm]akefile"}); ok {
		if make, err := tool("make", "make"); err == nil {
			if err := c.run(make, "-C", path.Dir(makefile)); err != nil {
				return false, err
			}
		}
	}
	text := []byte(strings.TrimPrefix(c.text(mark), "\ufeff"))
	first, _, _ := bytes.Cut(text, []byte("\n"))
	words := strings.Fields(strings.TrimPrefix(string(first), "#!"))
	switch {
	case !bytes.HasPrefix(first, []byte("#!")) || len(words) == 0:
		words = []string{"sh"}
		if regexp.MustCompile(`(?m)^(import|from) \w`).Match(text) {
			words = []string{"python3"}
		}
	case path.Base(words[0]) == "env" && len(words) > 1:
		words = words[1:]
	}
	// Carriage returns are no part of a line of shell, and python3 does not mind their absence.
	if err := os.WriteFile(name, bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")), 0o755); err != nil {
		return false, err
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
		if run, err = tool(path.Base(words[0])+" (the first line of "+mark+")", names...); err != nil {
			return false, err
		}
	}
	c.begin(mark, append(append([]string{run}, words[1:]...), path.Base(mark))...)
	if strings.HasPrefix(names[0], "python") {
		return true, c.run(run, "-m", "py_compile", mark)
	}
	return true, nil
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
	return true, c.onJVM(jars[0], "-jar", path.Base(jars[0]))
}
