package compile

import (
	_ "embed"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
)

type language struct {
	Name      string
	Endings   []string       // of its source files
	Marks     []string       // patterns of build files that only it has
	Main      *regexp.Regexp // what a file must have to be started; nil for nothing
	Needs     string         // that in words
	Sign      *regexp.Regexp // what the file to start has more often than others; nil if nothing tells
	Tools     []string       // the first of these that is here builds or starts it
	Flags     []string       // of the tool, in front of the files
	Standards []string       // flags for its versions, the newest first: an old program may need an old one
	build     builder
}

// A builder compiles files of a language, if need be, and says how the program is started. See compiler.err.
type builder func(c *compiler, l *language, files []string)

// usual are the names, without ending and in small letters, of files to start.
var usual = []string{"main", "bot", "mybot", "index", "app", "__main__", "run", "botrun", "botstarter", "program"}

//go:embed languages.toml
var languagesText string

// languages are in the order in which they are taken if all else is equal.
var languages []language

func init() {
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
