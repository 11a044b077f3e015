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
	endings []string       // of its source files
	marks   []string       // patterns of build files that only it has
	main    *regexp.Regexp // what a file must have to be started; nil for nothing
	needs   string         // that in words
	sign    *regexp.Regexp // what the file to start has more often than others; nil if nothing tells
	tools   []string       // the first of these that is here builds or starts it
	flags   []string       // of the tool, in front of the files
	build   func(c *compiler, l *language, files []string) error
}

// usual are the names, without ending and in small letters, of files to start.
var usual = []string{"main", "bot", "mybot", "index", "app", "__main__", "run", "botrun", "botstarter", "program"}

// languages are in the order in which they are taken if all else is equal.
var languages []language

func init() {
	re := regexp.MustCompile
	cMain := re(`(?m)^[ \t]*(extern "C" )?(signed |auto )?(int|void|auto)?\s*\bmain\s*\(`)
	stdin := re(`process\.stdin|/dev/stdin|readFileSync\(0`)
	makes := []string{"CMakeLists.txt", "[Mm]akefile"}
	languages = []language{
		{name: "Python", endings: []string{".py"}, marks: []string{"requirements.txt", "pyproject.toml"},
			sign:  re(`__name__\s*==\s*['"]__main__['"]|sys\.stdin|\b(raw_)?input\s*\(`),
			tools: []string{"python3", "python"}, build: python},
		{name: "Go", endings: []string{".go"}, marks: []string{"go.mod"}, main: re(`(?m)^func\s+main\s*\(\s*\)`),
			needs: "func main", sign: re(`os\.Stdin`), tools: []string{"go"}, build: golang},
		{name: "Rust", endings: []string{".rs"}, marks: []string{"Cargo.toml"}, main: re(`fn\s+main\s*\(`),
			needs: "fn main", sign: re(`stdin\(\)`), tools: []string{"rustc"},
			flags: []string{"--edition", "2021", "-O"}, build: rust},
		{name: "Java", endings: []string{".java"}, marks: []string{"pom.xml", "build.gradle", "build.xml"},
			main:  re(`(static\s+(final\s+)?(public\s+)?|public\s+static\s+.*)void\s+main\s*\(`),
			needs: "static void main", sign: re(`System\.in\b`), tools: []string{"javac"},
			flags: []string{"-nowarn", "-encoding", "UTF-8", "-d", "classes.host"}, build: java},
		{name: "Kotlin", endings: []string{".kt"}, marks: []string{"build.gradle.kts"}, main: re(`fun\s+main\s*\(`),
			needs: "fun main", sign: re(`readLine|readln|System\.` + "`in`"), tools: []string{"kotlinc"},
			flags: []string{"-include-runtime", "-d", "bot.host.jar"}, build: kotlin},
		{name: "Scala", endings: []string{".scala"}, marks: []string{"build.sbt"},
			main:  re(`extends\s+(\w+\s+with\s+)*App\b|def\s+main\s*\(|@main\b`),
			needs: "def main", sign: re(`stdin|StdIn|readLine`), tools: []string{"scalac"},
			flags: []string{"-d", "classes.host"}, build: scala},
		{name: "C#", endings: []string{".cs"}, marks: []string{"*.csproj", "*.sln"},
			main: re(`static\s+(async\s+)?(void|int|Task)\s+Main\s*\(`), sign: re(`Console\.(In\b|ReadLine|OpenStandardInput)`),
			needs: "static void Main", tools: []string{"mcs", "dotnet"}, build: csharp},
		{name: "JavaScript", endings: []string{".js", ".mjs", ".cjs"}, marks: []string{"package.json"}, sign: stdin,
			tools: []string{"node", "nodejs"}, flags: []string{"--check"}, build: javascript},
		{name: "TypeScript", endings: []string{".ts"}, marks: []string{"tsconfig.json"}, sign: stdin,
			tools: []string{"tsc"}, flags: []string{"--target", "es2020", "--module", "commonjs", "--esModuleInterop",
				"--skipLibCheck", "--ignoreDeprecations", "6.0"}, build: typescript},
		{name: "Haskell", endings: []string{".hs"}, marks: []string{"*.cabal", "stack.yaml"}, main: re(`(?m)^main\s*(::|=)`),
			needs: "main", sign: re(`getLine|getContents|interact`), tools: []string{"ghc"},
			flags: []string{"-O2", "-outputdir", ".host-build"}, build: haskell},
		{name: "C++", endings: []string{".cpp", ".cc", ".cxx"}, marks: makes, main: cMain, needs: "main",
			sign: re(`\bcin\b|\bstdin\b|getchar`), tools: []string{"c++", "g++", "clang++"},
			flags: []string{"-O2", "-pthread"}, build: native("-std=gnu++20", "-std=gnu++14")},
		{name: "C", endings: []string{".c"}, marks: makes, main: cMain, needs: "main",
			sign: re(`\bstdin\b|getchar|scanf`), tools: []string{"cc", "gcc", "clang"}, flags: []string{"-O2"},
			build: native("-std=gnu11", "-std=gnu89")},
		{name: "Ruby", endings: []string{".rb"}, marks: []string{"Gemfile"}, sign: re(`\$stdin|STDIN|\bgets\b`),
			tools: []string{"ruby"}, flags: []string{"-c"}, build: interpreted},
		{name: "Perl", endings: []string{".pl"}, marks: []string{"cpanfile"}, sign: re(`STDIN|<>`),
			tools: []string{"perl"}, flags: []string{"-c"}, build: interpreted},
		{name: "PHP", endings: []string{".php"}, marks: []string{"composer.json"}, sign: re(`STDIN|php://stdin`),
			tools: []string{"php"}, flags: []string{"-l"}, build: interpreted},
		{name: "Lua", endings: []string{".lua"}, marks: []string{"*.rockspec"}, sign: re(`io\.(read|lines|stdin)`),
			tools: []string{"lua", "luajit", "lua5.4", "lua5.3", "lua5.1"}, build: interpreted},
	}
}

// languageOf is the language of a source file, nil if it has none.
func languageOf(name string) *language {
	for k := range languages {
		isCode := !strings.HasSuffix(name, ".d.ts") // which only declares what others have
		if isCode && slices.Contains(languages[k].endings, strings.ToLower(path.Ext(name))) {
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
