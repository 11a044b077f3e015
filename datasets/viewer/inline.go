package viewer

import (
	"cmp"
	"embed"
	"errors"
	"fmt"
	"html"
	"io"
	"io/fs"
	"path"
	"regexp"
	"strings"

	"blockyard/datasets/program/named"
)

//go:embed page
var page embed.FS

// PageFiles returns the files of the page, of which stage.js, draw.js, dom.js and styles serve other pages too. Its
// programs name commands as the reader has them.
func PageFiles() fs.FS { return pages{} }

// pages are the embedded files, with other texts.
type pages struct{}

func (pages) Open(name string) (fs.File, error) {
	f, err := page.Open(path.Join("page", name))
	if err != nil || path.Ext(name) != ".js" {
		return f, err
	}
	info, err1 := f.Stat()
	text, err2 := io.ReadAll(f)
	return script{info, strings.NewReader(named.Text(string(text)))}, errors.Join(err1, err2, f.Close())
}

// A script is a file with another text.
type script struct {
	fs.FileInfo
	*strings.Reader
}

func (s script) Size() int64                { return s.Reader.Size() }
func (s script) Stat() (fs.FileInfo, error) { return s, nil }
func (s script) Close() error               { return nil }

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

// Standalone returns a page of PageFiles with its programs and styles in it, behind the HTML before.
func Standalone(name, before string) string {
	text := pageFile(name)
	b := bundler{done: map[string]bool{}}
	b.add(pageScript.FindStringSubmatch(text)[1])
	text = pageIcon.ReplaceAllLiteralString(text, "")
	text = pageScript.ReplaceAllLiteralString(text, "")
	for _, m := range pageStyle.FindAllStringSubmatch(text, -1) {
		text = strings.Replace(text, m[0], "<style>\n"+pageFile(m[1])+"</style>", 1)
	}
	end := before + "<script>\nconst modules = {};\n" + b.out.String() + "</script>\n</body>"
	return strings.Replace(text, "</body>", end, 1)
}

func pageFile(name string) string {
	text, err := fs.ReadFile(PageFiles(), name)
	if err != nil {
		panic(err) // the folder is compiled in
	}
	return string(text)
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
	text := pageFile(name)
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
