package env_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// A lineCount is what a file has. All limits of size count code, so that none is met by deleting what explains it: a
// line of code has something besides comments and docstrings, and a blank line is neither.
type lineCount struct{ code, comment int }

func (n lineCount) plus(m lineCount) lineCount {
	return lineCount{n.code + m.code, n.comment + m.comment}
}

// Parts of the languages below: comments, and what may look as if it held one.
const (
	slashes = `//.*|/\*(?s:.*?)\*/`
	quoted  = `"(?:[^"\\\n]|\\(?s:.))*"|'(?:[^'\\\n]|\\(?s:.))*'`
	backed  = "`(?:[^`\\\\]|\\\\(?s:.))*`"
	double  = `"""(?:[^"\\]|\\(?s:.)|""?(?:[^"\\]|\\(?s:.)))*"""`
	single  = `'''(?:[^'\\]|\\(?s:.)|''?(?:[^'\\]|\\(?s:.)))*'''`
	slashed = `(?:[(,=:[!&|?{};+*%<>~^-]|\breturn)[ \t]*/(?:[^/*\\[\n]|\\.)(?:[^/\\[\n]|\\.|\[(?:[^]\\\n]|\\.)*])*/`
)

// comments find in each language, by the ending of files, the comments and, as a group, what is none: strings, for one.
var (
	python   = regexp.MustCompile(`(?m)^[ \t]*[rRuU]?(?:` + double + `|` + single + `)[ \t\r]*$|#.*|(` + double + `|` + single + `|` + quoted + `)`)
	shell    = regexp.MustCompile(`(?m)(?:^|[ \t;(&|])#.*|("(?:[^"\\]|\\(?s:.))*"|'[^']*'|\\.)`)
	clike    = regexp.MustCompile(slashes + `|(\w'\w|` + quoted + `)`)
	comments = map[string]*regexp.Regexp{
		".go": regexp.MustCompile(slashes + "|(`[^`]*`|" + quoted + ")"), ".py": python, ".sh": shell,
		".js":  regexp.MustCompile(slashes + `|(` + quoted + `|` + backed + `|` + slashed + `)`),
		".css": regexp.MustCompile(`/\*(?s:.*?)\*/|(` + quoted + `)`), ".html": regexp.MustCompile(`<!--(?s:.*?)-->|()`),
		".c": clike, ".h": clike, ".cpp": clike, ".hpp": clike, ".java": clike, ".s": clike,
	}
	interpreters = regexp.MustCompile(`^#!.*?(python)?3?\n`)
)

// commentsOf returns how comments are found in a file: by its ending or, without one, by its first line. It is nil for
// what is no code.
func commentsOf(file, text string) *regexp.Regexp {
	first := interpreters.FindStringSubmatch(text)
	switch {
	case path.Ext(file) != "" || first == nil:
		return comments[path.Ext(file)]
	case first[1] != "":
		return python
	}
	return shell
}

// countLines counts the lines of a file of code.
func countLines(file, text string) lineCount {
	code := nonblank(commentsOf(file, text).ReplaceAllString(text, "$1"))
	return lineCount{code, nonblank(text) - code}
}

func nonblank(text string) (n int) {
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) != "" {
			n++
		}
	}
	return n
}

// A source is a file. What is neither code nor a page has no text, and what is no code has no part.
type source struct {
	path, text, part string
	lineCount
	tree *ast.File // of Go that is no test
}

// places are where the trees of all sources are.
var places = token.NewFileSet()

func newSource(file, text string) source {
	f := source{path: file, text: text}
	if commentsOf(file, text) == nil {
		return f
	}
	f.part, f.lineCount = partOf(file), countLines(file, text)
	if path.Ext(file) == ".go" && !f.isTest() && !strings.Contains(file, "/testdata/") {
		tree, err := parser.ParseFile(places, file, text, parser.ParseComments)
		if err != nil {
			panic(err)
		}
		f.tree = tree
	}
	return f
}

// folders have all code and pages; what stands beside them in a checkout was written by commands.
var folders = []string{"agents", "datasets", "env", "train", "rpc", ".ci", ".github"}

// written are folders within them that commands write.
const written = "rpc/python/dist rpc/python/build rpc/python/site rpc/python/blockyard/_bin agents/__pycache__ datasets/__pycache__ " +
	"rpc/__pycache__ train/__pycache__"

// files reads and parses every file of them, and the README, in the order of their paths.
var files = sync.OnceValues(func() (all []source, err error) {
	for _, folder := range append(folders, "README.md") {
		err = filepath.WalkDir(filepath.Join("..", folder), func(file string, d fs.DirEntry, err error) error {
			name := strings.TrimPrefix(filepath.ToSlash(file), "../")
			switch ending := path.Ext(name); {
			case err != nil:
				return err
			case d.IsDir() && (d.Name()[0] == '.' && !slices.Contains(folders, name) || fits(name, written)):
				return fs.SkipDir
			case !d.Type().IsRegular():
				return nil
			case ending != "" && ending != ".md" && comments[ending] == nil:
				all = append(all, source{path: name})
				return nil
			}
			text, err := os.ReadFile(file)
			all = append(all, newSource(name, string(text)))
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return all, nil
})

// isProduct reports whether a file is Go that programs are made of.
func (f *source) isProduct() bool { return f.part == product && f.tree != nil }

func (f *source) isTest() bool { return strings.HasSuffix(f.path, "_test.go") }

// A rule returns a sentence for everything that is wrong with files.
type rule func(files []source) []string

// A trial is a file that is given to a rule, and a part of what the rule says of it, "" if nothing is wrong.
type trial struct{ path, text, says string }

// holds requires that the repository keeps a rule, and that the rule judges files as these trials say.
func holds(t *testing.T, wrong rule, trials ...trial) {
	t.Helper()
	all, err := files()
	require.NoError(t, err)
	require.Greater(t, len(all), 1000)
	for _, s := range wrong(all) {
		t.Error(s)
	}
	for _, c := range trials {
		if path.Ext(c.path) == ".go" {
			c.text = "package a\n" + c.text
		}
		switch said := strings.Join(wrong([]source{newSource(c.path, c.text)}), "\n"); c.says {
		case "":
			require.NotContains(t, said, c.path, c.text)
		default:
			require.Contains(t, said, c.says, "%s:\n%s", c.path, c.text)
		}
	}
}

// TestCountLines shows what is code and what is a comment, where the two are easily confused.
func TestCountLines(t *testing.T) {
	for _, c := range []struct {
		path, text    string
		code, comment int
	}{
		{"a.go", "// a\npackage a // b\n\n/* c\n\nd */\nvar x = 1 /* e\nf */\n", 2, 4},
		{"a.go", "package a\nvar x = `\n// a\n\n`\nvar y = \"/*\"\n// b", 5, 1},
		{"a.py", "#!/usr/bin/env python3\n\"\"\"One.\n\nTwo.\n\"\"\"\nimport a # b\n", 1, 4},
		{"a.py", "def f():\n    '''One.'''\n    return '''\n# three\n'''\nf(\"\"\"a\n# b\"\"\")\n", 6, 1},
		{"a.py", "class A:\n    x: int\n    \"\"\"One, \\\"\"\" and '''two'''.\n\n    Three.\"\"\"\n    y = '#'\n    # \"\"\"\n    z = 1\n", 4, 3},
		{"a.js", "const a = /[/*\"]\\/'/, b = 2 / 3 // c\n/* d */\nconst e = `\n// f ${\"g\"}\n`\nreturn /\"/\n// h\n", 5, 2},
		{"a.cpp", "#define A \"//\" /* a\nb */ int x = 1'000'000; // '\n// '\nchar c = '\"'; /* d */\n/* e */\n", 2, 3},
		{"a.css", "/* a */\nb { c: url(http://d) } /*\n*/\n", 1, 2},
		{"a.html", "<!-- a\n-->\n<p>it's</p>\n", 1, 2},
		{"a.sh", "#!/bin/sh\necho $# ${a#b} 'c\n# d' # e\n# f\n  # it's\n", 2, 3},
		{"run", "#!/usr/bin/env python3\n\"\"\"a\"\"\"\nb\n", 1, 2},
	} {
		require.Equal(t, lineCount{c.code, c.comment}, countLines(c.path, c.text), "%s:\n%s", c.path, c.text)
	}
	for _, path := range []string{"a.md", "a.svg", ".gitignore", "LICENSE"} {
		require.Nil(t, commentsOf(path, "text\n"), path)
	}
}
