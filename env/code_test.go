package env_test

import (
	"go/scanner"
	"go/token"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A lineCount is what a file has. All limits of size count code, so that none is met by deleting what explains it: a
// line of code has a token, a line of comment has a comment or docstring and no token, and a blank line is neither.
type lineCount struct{ code, comment int }

func (n lineCount) plus(m lineCount) lineCount {
	return lineCount{n.code + m.code, n.comment + m.comment}
}

// A syntax is what tells comments from code in a language.
type syntax struct {
	line      string    // begins a comment that ends with the line
	block     [2]string // begin and end a comment
	quotes    string    // each of these characters begins and ends strings
	multiline string    // those of quotes whose strings may span lines
}

var (
	golang  = &syntax{} // read by go/scanner
	python  = &syntax{line: "#", quotes: `"'`}
	shell   = &syntax{line: "#", quotes: `"'`, multiline: `"'`}
	clike   = &syntax{line: "//", block: [2]string{"/*", "*/"}, quotes: `"'`}
	script  = &syntax{line: "//", block: [2]string{"/*", "*/"}, quotes: "\"'`", multiline: "`"}
	style   = &syntax{block: [2]string{"/*", "*/"}, quotes: `"'`}
	markup  = &syntax{block: [2]string{"<!--", "-->"}}
	endings = map[string]*syntax{
		".go": golang, ".py": python, ".sh": shell, ".js": script, ".css": style, ".html": markup,
		".c": clike, ".h": clike, ".cpp": clike, ".hpp": clike, ".java": clike, ".s": clike,
	}
)

// syntaxOf returns the syntax of a file: by its ending or, without one, by its first line. It is nil for what is no code.
func syntaxOf(path, text string) *syntax {
	switch first := firstLine(text); {
	case filepath.Ext(path) != "" || !strings.HasPrefix(first, "#!"):
		return endings[filepath.Ext(path)]
	case strings.Contains(first, "python"):
		return python
	}
	return shell
}

func firstLine(text string) string {
	first, _, _ := strings.Cut(text, "\n")
	return first
}

// countLines counts the lines of a file.
func (s *syntax) countLines(text string) (n lineCount) {
	is := make([]lineCount, strings.Count(text, "\n")+1) // what a line has, as 0 or 1
	line, at := 0, 0
	mark := func(from, to int, comment bool) { // text[from:to], which is not before the text marked last
		line, at = line+strings.Count(text[at:from], "\n"), from
		for k, part := range strings.Split(text[from:to], "\n") {
			if here := &is[line+k]; strings.TrimSpace(part) == "" {
			} else if comment {
				here.comment = 1
			} else {
				here.code = 1
			}
		}
	}
	if s == golang {
		goSpans(text, mark)
	} else {
		s.spans(text, mark)
	}
	for _, here := range is {
		n = n.plus(lineCount{here.code, here.comment &^ here.code})
	}
	return n
}

// goSpans calls each for every token and comment of a file of Go, in order.
func goSpans(text string, each func(from, to int, comment bool)) {
	var s scanner.Scanner
	file := token.NewFileSet().AddFile("", -1, len(text))
	s.Init(file, []byte(text), nil, scanner.ScanComments)
	for {
		pos, tok, lit := s.Scan()
		from := file.Offset(pos)
		switch {
		case tok == token.EOF:
			return
		case tok == token.SEMICOLON && lit == "\n": // written by nobody
		default:
			each(from, min(from+max(len(lit), 1), len(text)), tok == token.COMMENT)
		}
	}
}

var (
	words     = regexp.MustCompile(`^\w+`)
	docstring = regexp.MustCompile(`^[rRuU]?("""|'''|"|')`)                      // where a statement of Python begins
	lineEnd   = regexp.MustCompile(`^[ \t\r]*(#.*)?(\n|$)`)                      // nothing more but a comment
	heredoc   = regexp.MustCompile(`^<<-?[ \t]*["']?([A-Za-z_]\w*)`)             // begins a text in a shell script
	operator  = regexp.MustCompile(`([(,=:[!&|?{};+*%<>~^-]|\breturn|^)[ \t]*$`) // before a regular expression of JavaScript
	ofWord    = regexp.MustCompile(`\w$`)
	ofShell   = regexp.MustCompile(`[^\s;(&|]$`) // a # after it begins no comment
)

// spans calls each for every comment, string, word and other character of a file, in order.
func (s *syntax) spans(text string, each func(from, to int, comment bool)) {
	depth, begins := 0, true // brackets that are open; whether a statement begins here
	for i, end := 0, 0; i < len(text); i = end {
		rest, before := text[i:], text[strings.LastIndexByte(text[:i], '\n')+1:i]
		comment, quoted := false, strings.IndexByte(s.quotes, text[i]) >= 0
		switch c := text[i]; {
		case s.line != "" && strings.HasPrefix(rest, s.line) && !(s == shell && ofShell.MatchString(before)):
			end, comment = i+len(firstLine(rest)), true
		case s.block[0] != "" && strings.HasPrefix(rest, s.block[0]):
			end, comment = through(text, i+len(s.block[0]), s.block[1]), true
		case s == python && begins && docstring.MatchString(rest):
			end = s.stringEnd(text, i+strings.IndexAny(rest, s.quotes))
			comment, begins = lineEnd.MatchString(text[end:]), false
		case quoted && !(s == clike && c == '\'' && ofWord.MatchString(before)): // 1'000 is no string
			end, begins = s.stringEnd(text, i), false
		case s == shell && heredoc.MatchString(rest) && !strings.HasSuffix(before, "<"):
			end = through(text, i, "\n"+heredoc.FindStringSubmatch(rest)[1]+"\n")
		case s == script && c == '/' && operator.MatchString(before):
			end = s.stringEnd(text, i)
		case c == '\\': // also before the end of a line, where a statement goes on
			end = min(i+2, len(text))
		case c == '\n':
			end, begins = i+1, depth == 0
		default:
			end = i + max(len(words.FindString(rest)), 1)
			depth += strings.Count("([{", text[i:i+1]) - strings.Count(")]}", text[i:i+1])
			begins = begins && strings.TrimSpace(text[i:end]) == ""
		}
		each(i, end, comment)
	}
}

// through returns the offset after the next end in text[from:], or that of the end of the text.
func through(text string, from int, end string) int {
	if at := strings.Index(text[from:], end); at >= 0 {
		return from + at + len(end)
	}
	return len(text)
}

// stringEnd returns the offset after a string, or after a regular expression, whose quote is at text[at].
func (s *syntax) stringEnd(text string, at int) int {
	quote, class := text[at:at+1], false
	triple := s == python && strings.HasPrefix(text[at:], strings.Repeat(quote, 3))
	if triple {
		quote = strings.Repeat(quote, 3)
	}
	for i := at + len(quote); i < len(text); i++ {
		switch {
		case text[i] == '\\' && !(s == shell && quote == "'"):
			i++
		case text[i] == '\n' && !triple && !strings.Contains(s.multiline, quote):
			return i // it was no string, or it is not well formed
		case quote == "/" && (text[i] == '[' || text[i] == ']'):
			class = text[i] == '['
		case !class && strings.HasPrefix(text[i:], quote):
			return i + len(quote)
		}
	}
	return len(text)
}

// TestCountLines shows what is code and what is a comment, where the two are easily confused.
func TestCountLines(t *testing.T) {
	for _, c := range []struct {
		path, text    string
		code, comment int
	}{
		{"a.go", "// a\npackage a // b\n\n/* c\n\nd */\nvar x = 1 /* e\nf */\n", 2, 4},
		{"a.go", "package a\nvar x = `\n// a\n\n`\nvar y = \"/*\"\n// b", 5, 1},
		{"a.go", "package a\nfunc f() {\n}", 3, 0},
		{"a.py", "#!/usr/bin/env python3\n\"\"\"One.\n\nTwo.\n\"\"\"\nimport a # b\n", 1, 4},
		{"a.py", "def f():\n    r'''One.'''  # two\n    return '''\n# three\n'''\n", 4, 1},
		{"a.py", "x = \\\n    \"\"\"a\n# b\"\"\"\nf(\n    \"\"\"c\n    d\"\"\"\n)\n\"e\".f()\n", 8, 0},
		{"a.py", "class A:\n    x: int\n    \"\"\"One, \\\"\"\" and '''two'''.\n\n    Three.\"\"\"\n    y = '#'\n    # \"\"\"\n    z = 1\n", 4, 3},
		{"a.py", "\"\"\"One.\"\"\"; x = 1\nf\"{a}\"\nx = {\n    'a': 1,\n    'b'\n    # c\n}\n\"\"\"\nTwo.\n", 6, 3},
		{"a.js", "const a = /[/*\"]\\/'/, b = 2 / 3 // c\n/* d */\nconst e = `\n// f ${\"g\"}\n`\nreturn /\"/\n// h\n", 5, 2},
		{"a.js", "/* a */\n// b", 0, 2},
		{"a.js", "const u = \"http://a\" // \"\nconst v = 'it\\'s' /*\n*/ + w\n", 3, 0},
		{"a.cpp", "#define A \"//\" /* a\nb */ int x = 1'000'000; // '\n// '\nchar c = '\"'; /* d */\n/* e */\n", 3, 2},
		{"a.s", "// a\nTEXT ·f(SB), $0 // b\n\tRET\n", 2, 1},
		{"a.css", "/* a */\nb { c: url(http://d) } /*\n*/\n", 1, 2},
		{"a.html", "<!-- a\n-->\n<p title='<!--'>it's</p>\n", 1, 2},
		{"a.sh", "#!/bin/sh\necho $# ${a#b} 'c\n# d' # e\n# f\n  # it's\n", 2, 3},
		{"run", "#!/bin/bash\ncat <<'END' # a\n# it's\n\nEND\n# b\nread <<<END\n# c\n", 4, 3},
		{"run", "#!/usr/bin/env python3\n\"\"\"a\"\"\"\nb\n", 1, 2},
	} {
		got := syntaxOf(c.path, c.text).countLines(c.text)
		require.Equal(t, lineCount{c.code, c.comment}, got, "%s:\n%s", c.path, c.text)
	}
	for _, path := range []string{"a.md", "a.svg", ".gitignore", "LICENSE"} {
		require.Nil(t, syntaxOf(path, "text\n"), path)
	}
}
