package compile

import (
	"encoding/json"
	"errors"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
)

// oldPython is what Python 3 says of a program for Python 2.
var oldPython = regexp.MustCompile(`Missing parentheses in call|multiple exception types|TabError|` +
	`leading zeros|invalid (decimal|hexadecimal) literal|backquote|Did you mean print`)

func python(c *compiler, files []string) error {
	run, err := tool("Python", "python3", "python")
	if err != nil {
		return err
	}
	main, wrapped := c.wrapped(files)
	if main == "" {
		if main, err = c.start(languageOf(files[0]), files); err != nil {
			return err
		}
	}
	checked := c.imported(main, files)
	argv := func(python string) {
		c.begin(main, append([]string{python, "-u"}, append(wrapped, path.Base(main))...)...)
	}
	argv(run)
	err = c.run(append([]string{run, "-m", "py_compile"}, checked...)...)
	refusal := new(Refusal)
	if err == nil || !errors.As(err, &refusal) || !oldPython.MatchString(refusal.Output) {
		return err
	}
	c.language = "Python 2"
	old, missing := tool("Python 2", "python2", "python2.7")
	if missing == nil && c.run(old, "-c", "pass") == nil {
		argv(old)
		return c.run(append([]string{old, "-m", "py_compile"}, checked...)...)
	}
	refusal.Why = "is written for Python 2, which this machine does not have: " +
		strings.TrimPrefix(refusal.Why, "does not compile: ")
	return refusal
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
	name := filepath.Join(c.dir, ".host", "wrapper.py")
	if os.MkdirAll(filepath.Dir(name), 0o755) != nil || os.WriteFile(name, []byte(c.uploads.Wrapper), 0o644) != nil {
		return "", nil
	}
	return found[0], []string{name}
}

// imported returns main and the files whose names other files mention behind import.
func (c *compiler) imported(main string, files []string) []string {
	out := []string{main}
	for _, name := range files {
		base := strings.TrimSuffix(path.Base(name), path.Ext(name))
		used := regexp.MustCompile(`(?m)^\s*(from|import)\s.*\b` + regexp.QuoteMeta(base) + `\b`)
		if name != main && len(c.matching(files, used)) > 0 {
			out = append(out, name)
		}
	}
	return out
}

// startScript is "node FILE" in a package.json.
var startScript = regexp.MustCompile(`^node\s+(--?\S+\s+)*([^\s-]\S*)$`)

func javascript(c *compiler, files []string) error {
	node, err := tool("Node.js", "node", "nodejs")
	if err != nil {
		return err
	}
	if mark, ok := c.mark([]string{"package.json"}); ok {
		var says struct {
			Main    string
			Scripts struct{ Start string }
		}
		if err := json.Unmarshal([]byte(c.text(mark)), &says); err != nil {
			return refuse("%s is no JSON: %v", mark, err)
		}
		names := []string{says.Main, says.Main + ".js"}
		if m := startScript.FindStringSubmatch(says.Scripts.Start); m != nil {
			names = append([]string{m[2], m[2] + ".js"}, names...)
		}
		for _, name := range names {
			main := path.Join(path.Dir(mark), name)
			info, err := os.Stat(filepath.Join(c.dir, main))
			if name != "" && filepath.IsLocal(main) && err == nil && info.Mode().IsRegular() {
				c.begin(mark, node, strings.TrimPrefix(main, path.Dir(mark)+"/"))
				return c.run(node, "--check", main)
			}
		}
	}
	main, err := c.start(languageOf(files[0]), files)
	if err != nil {
		return err
	}
	c.begin(main, node, path.Base(main))
	return c.run(node, "--check", main)
}

func typescript(c *compiler, files []string) error {
	node, err := tool("Node.js", "node", "nodejs")
	if err != nil {
		return err
	}
	tsc, main, err := c.toolAndStart(files, "TypeScript", "tsc")
	if err != nil {
		return err
	}
	c.begin(main, node, strings.TrimSuffix(path.Base(main), ".ts")+".js")
	return c.run(tsc, "--target", "es2020", "--module", "commonjs", "--esModuleInterop", "--skipLibCheck", main)
}
