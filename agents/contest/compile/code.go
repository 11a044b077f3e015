package compile

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// slashed are the endings of languages whose comments are those of C.
var slashed = []string{".c", ".cc", ".cpp", ".cxx", ".java", ".cs", ".go", ".rs", ".kt", ".scala"}

// textOrComment is a literal or a comment of such a language; a comment begins with a slash.
var textOrComment = regexp.MustCompile("\"(?:\\\\.|[^\"\\\\\n])*\"|'(?:\\\\[^'\n]*|[^'\\\\\n])'|`[^`]*`|" +
	`//[^\n]*|(?s:/\*.*?\*/)`)

// code returns the text of a file without what its compiler does not see: comments, and lines that its preprocessor
// leaves out.
func (c *compiler) code(name string) string {
	ending := strings.ToLower(path.Ext(name))
	if !slices.Contains(slashed, ending) {
		return c.text(name)
	}
	code := textOrComment.ReplaceAllStringFunc(c.text(name), func(part string) string {
		if part[0] == '/' {
			return " "
		}
		return part
	})
	if !strings.HasPrefix(ending, ".c") {
		return code
	}
	return preprocessed(code)
}

func (c *compiler) matchingCode(files []string, pattern *regexp.Regexp) []string {
	return slices.DeleteFunc(slices.Clone(files), func(name string) bool {
		return pattern != nil && !pattern.MatchString(c.code(name))
	})
}

var (
	directive = regexp.MustCompile(`^\s*#\s*(ifdef|ifndef|if|elif|else|endif|define|undef)\b\s*(.*?)\s*$`)
	isDefined = regexp.MustCompile(`^(!?)\s*defined\s*\(?\s*(\w+)\s*\)?$`)
	// ofCompiler are names that compilers for this system define.
	ofCompiler = regexp.MustCompile(`^(__cplusplus|__GNUC__|(__)?(linux|unix)|__(linux|unix|x86_64|STDC)__)$`)
)

// preprocessed returns the lines of code in C or C++ that are compiled where nothing is defined but what the compiler
// and the code itself define. Of an expression that is more than a number or a name, the first branch is taken.
func preprocessed(code string) string {
	defined := map[string]bool{}
	holds := func(expression string) bool {
		if m := isDefined.FindStringSubmatch(expression); m != nil {
			return (defined[m[2]] || ofCompiler.MatchString(m[2])) != (m[1] == "!")
		}
		return expression != "0" && expression != "false"
	}
	type branch struct{ on, taken bool } // of an #if: its lines are compiled, or those of an earlier branch are
	var open []branch
	var out strings.Builder
	for line := range strings.Lines(code) {
		off := slices.ContainsFunc(open, func(b branch) bool { return !b.on })
		m := directive.FindStringSubmatch(line)
		if m == nil {
			if !off {
				out.WriteString(line)
			}
			continue
		}
		word, _, _ := strings.Cut(m[2], " ")
		switch top := len(open) - 1; {
		case strings.HasPrefix(m[1], "if"):
			on := false
			switch m[1] {
			case "if":
				on = holds(m[2])
			case "ifdef":
				on = holds("defined " + word)
			default:
				on = holds("!defined " + word)
			}
			open = append(open, branch{on, on})
		case m[1] == "define" || m[1] == "undef":
			if name, _, _ := strings.Cut(word, "("); !off {
				defined[name] = m[1] == "define"
			}
		case top < 0:
		case m[1] == "endif":
			open = open[:top]
		default:
			on := !open[top].taken && (m[1] == "else" || holds(m[2]))
			open[top] = branch{on, open[top].taken || on}
		}
	}
	return out.String()
}
