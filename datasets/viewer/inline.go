package viewer

import (
	"cmp"
	"embed"
	"fmt"
	"html"
	"path"
	"regexp"
	"strings"

	"blockyard/datasets/program/named"
)

//go:embed page
var page embed.FS

// pageFile returns a file of the pages, of which stage.js, draw.js, dom.js and styles serve several. Programs name
// commands as the reader has them.
func pageFile(name string) (string, error) {
	text, err := page.ReadFile(path.Join("page", name))
	if path.Ext(name) != ".js" {
		return string(text), err
	}
	return named.Text(string(text)), err
}

// answers is the program that answers the page's requests from the game that the page holds.
//
//go:embed answers.js
var answers string

// ownPolicy allows a page that holds its game to run what is in it, and to load nothing.
const ownPolicy = `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; ` +
	`script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'">` + "\n"

var (
	importLine = regexp.MustCompile(`(?m)^import (\*\s*as\s+(\w+)|\{([^}]*)\}) from "\./([\w.]+)";$`)
	exportWord = regexp.MustCompile(`(?m)^export ((?:async )?function|class|const) ([\w$]+)`)
	pageScript = regexp.MustCompile(`<script type="module" src="([\w.]+)"></script>`)
	pageStyle  = regexp.MustCompile(`<link rel="stylesheet" href="([\w.]+)">`)
	pageIcon   = regexp.MustCompile(`<link rel="icon" href="([\w.]+)"[^>]*>\n?`)
)

// inline returns the page with data about the game id in the element "own".
func inline(id, data string) string {
	text := Standalone("index.html", `<script type="application/octet-stream" id="own" data-game="`+
		html.EscapeString(id)+`">`+data+"</script>\n<script>\n"+answers+"</script>\n")
	return strings.Replace(text, "<title>", ownPolicy+"<title>", 1)
}

// Standalone returns a page with its programs and styles in it, behind the HTML before.
func Standalone(name, before string) string {
	text := included(name)
	b := bundler{done: map[string]bool{}}
	b.add(pageScript.FindStringSubmatch(text)[1])
	text = pageIcon.ReplaceAllLiteralString(text, "")
	text = pageScript.ReplaceAllLiteralString(text, "")
	for _, m := range pageStyle.FindAllStringSubmatch(text, -1) {
		text = strings.Replace(text, m[0], "<style>\n"+included(m[1])+"</style>", 1)
	}
	end := before + "<script>\nconst modules = {};\n" + b.out.String() + "</script>\n</body>"
	return strings.Replace(text, "</body>", end, 1)
}

// included is a file of the pages that is there.
func included(name string) string {
	text, err := pageFile(name)
	if err != nil {
		panic(err) // the folder is compiled in
	}
	return text
}

// A bundler makes one program of the modules of the page: functions, after those they import, that set modules.
type bundler struct {
	out  strings.Builder
	done map[string]bool
}

func (b *bundler) add(name string) {
	if b.done[name] {
		return
	}
	b.done[name] = true
	text := included(name)
	for _, m := range importLine.FindAllStringSubmatch(text, -1) {
		b.add(m[4])
	}
	text = importLine.ReplaceAllStringFunc(text, func(line string) string {
		m := importLine.FindStringSubmatch(line)
		what := cmp.Or(m[2], "{"+strings.ReplaceAll(m[3], " as ", ": ")+"}")
		return fmt.Sprintf("const %s = modules[%q];", what, m[4])
	})
	var names []string
	for _, m := range exportWord.FindAllStringSubmatch(text, -1) {
		names = append(names, m[2])
	}
	text = exportWord.ReplaceAllString(text, "$1 $2")
	fmt.Fprintf(&b.out, "(() => {\n%s\nmodules[%q] = {%s};\n})();\n", text, name, strings.Join(names, ", "))
}
