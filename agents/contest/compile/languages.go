package compile

import (
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strings"
)

// A language says how a bot is found, compiled and started.
type language struct {
	name    string
	endings []string         // of its source files
	marks   []string         // patterns of build files that only it has
	usual   []string         // names of the file to start without the ending, in small letters
	main    *regexp.Regexp   // what a file must have to be started; nil for nothing
	needs   string           // that in words
	signs   []*regexp.Regexp // what the file to start has more often than others
	build   func(c *compiler, files []string) error
}

var usual = []string{"main", "bot", "mybot", "index", "app", "__main__", "run", "player", "botrun", "botstarter",
	"program"}

func re(text string) *regexp.Regexp { return regexp.MustCompile(text) }

// languages are in the order in which they are taken if all else is equal.
var languages []language

func init() {
	cMain := re(`(?m)^[ \t]*(extern "C" )?(signed |auto )?(int|void|auto)?\s*\bmain\s*\(`)
	languages = []language{
		{name: "Python", endings: []string{".py"}, marks: []string{"requirements.txt", "pyproject.toml"}, usual: usual,
			signs: []*regexp.Regexp{re(`__name__\s*==\s*['"]__main__['"]`), re(`sys\.stdin|\b(raw_)?input\s*\(`)},
			build: python},
		{name: "Go", endings: []string{".go"}, marks: []string{"go.mod"}, usual: usual,
			main: re(`(?m)^func\s+main\s*\(\s*\)`), needs: "func main", build: golang},
		{name: "Rust", endings: []string{".rs"}, marks: []string{"Cargo.toml"}, usual: usual, main: re(`fn\s+main\s*\(`),
			needs: "fn main", build: rust},
		{name: "Java", endings: []string{".java"}, marks: []string{"pom.xml", "build.gradle", "build.xml"}, usual: usual,
			main:  re(`(static\s+(final\s+)?(public\s+)?|public\s+static\s+.*)void\s+main\s*\(`),
			needs: "static void main", build: java},
		{name: "Kotlin", endings: []string{".kt"}, marks: []string{"build.gradle.kts"}, usual: usual,
			main: re(`fun\s+main\s*\(`), needs: "fun main", build: kotlin},
		{name: "Scala", endings: []string{".scala"}, marks: []string{"build.sbt"}, usual: usual,
			main: re(`extends\s+App\b|def\s+main\s*\(|@main\b`), needs: "def main", build: scala},
		{name: "C#", endings: []string{".cs"}, marks: []string{"*.csproj", "*.sln"}, usual: usual, build: csharp},
		{name: "JavaScript", endings: []string{".js", ".mjs", ".cjs"}, marks: []string{"package.json"}, usual: usual,
			signs: []*regexp.Regexp{re(`process\.stdin|/dev/stdin|readFileSync\(0`)}, build: javascript},
		{name: "TypeScript", endings: []string{".ts"}, marks: []string{"tsconfig.json"}, usual: usual,
			signs: []*regexp.Regexp{re(`process\.stdin`)}, build: typescript},
		{name: "Haskell", endings: []string{".hs"}, marks: []string{"*.cabal", "stack.yaml"}, usual: usual,
			main: re(`(?m)^main\s*(::|=)`), needs: "main", build: haskell},
		{name: "C++", endings: []string{".cpp", ".cc", ".cxx"}, marks: []string{"CMakeLists.txt", "[Mm]akefile"},
			usual: usual, main: cMain, needs: "main", build: cplusplus},
		{name: "C", endings: []string{".c"}, marks: []string{"CMakeLists.txt", "[Mm]akefile"}, usual: usual, main: cMain,
			needs: "main", build: plainC},
		script("Ruby", ".rb", "Gemfile", `\$stdin|STDIN|\bgets\b`, "-c", "ruby"),
		script("Perl", ".pl", "cpanfile", `STDIN|<>`, "-c", "perl"),
		script("PHP", ".php", "composer.json", `STDIN|php://stdin`, "-l", "php"),
		script("Lua", ".lua", "*.rockspec", `io\.(read|lines|stdin)`, "", "lua", "luajit", "lua5.4", "lua5.3", "lua5.1"),
	}
}

// script is a language whose programs are started as they are. check is the interpreter's flag that only reads a file.
func script(name, ending, mark, sign, check string, tools ...string) language {
	l := language{name: name, endings: []string{ending}, marks: []string{mark}, usual: usual,
		signs: []*regexp.Regexp{re(sign)}}
	l.build = func(c *compiler, files []string) error {
		run, err := tool(name, tools...)
		if err != nil {
			return err
		}
		main, err := c.start(&l, files)
		if err != nil {
			return err
		}
		c.begin(main, run, path.Base(main))
		if check == "" {
			return nil
		}
		return c.run(run, check, main)
	}
	return l
}

// languageOf is the language of a source file, nil if it has none.
func languageOf(name string) *language {
	for k := range languages {
		if slices.Contains(languages[k].endings, strings.ToLower(path.Ext(name))) {
			return &languages[k]
		}
	}
	return nil
}

// called is the language of a name.
func called(name string) *language {
	for k := range languages {
		if strings.EqualFold(languages[k].name, name) {
			return &languages[k]
		}
	}
	return nil
}

// tool returns the first of several programs that this machine has.
func tool(what string, names ...string) (string, error) {
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", refuse("needs %s, which this machine does not have: %s is not found", what, strings.Join(names, " or "))
}
