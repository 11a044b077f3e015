package viewer

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"
)

// maxStaticFrames is the largest number of frames in a page that holds its game itself.
const maxStaticFrames = 20_000

// A stored game is what the server would answer about it.
type stored struct {
	Games  list    `json:"games"`
	Game   details `json:"game"`
	Frames []Frame `json:"frames"`
}

// WriteHTML writes a page that shows one game of a file of records: game number, from 1. The page holds the game, the
// programs and the styles, so that it needs no server and can be opened from anywhere.
func WriteHTML(w io.Writer, file string, number int) error {
	game, err := store(file, number)
	if err != nil {
		return err
	}
	var packed bytes.Buffer
	zip := gzip.NewWriter(&packed)
	if err := json.NewEncoder(zip).Encode(game); err != nil {
		return err
	}
	if err := zip.Close(); err != nil {
		return err
	}
	html, err := inline(base64.StdEncoding.EncodeToString(packed.Bytes()))
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, html)
	return err
}

// store reads a game with all its frames.
func store(file string, number int) (*stored, error) {
	l, err := NewLibrary([]string{file})
	if err != nil {
		return nil, err
	}
	for !l.Refresh(time.Now().Add(time.Second)) {
	}
	at := slices.IndexFunc(l.list(), func(e *entry) bool { return max(e.number, 1) == number })
	if at < 0 {
		return nil, fmt.Errorf("%s has no game %d", file, number)
	}
	e := l.list()[at]
	film, err := e.film()
	if err != nil {
		return nil, err
	}
	for film.info().Reading {
		film.advance(time.Now().Add(time.Second))
	}
	about := film.info()
	if about.Frames > maxStaticFrames {
		return nil, fmt.Errorf("%s, game %d: %d frames, want at most %d: use the viewer with its server",
			file, number, about.Frames, maxStaticFrames)
	}
	about.Live = false
	out := &stored{Game: details{Game: *e, Kind: kindOf(e.Game), Film: about, Gen: "0"}, Frames: []Frame{}}
	out.Games = list{Total: 1, All: 1, Games: []*entry{e}, Kinds: kinds{e.Game: kindOf(e.Game)}}
	for n := range about.Frames {
		f, err := film.frame(n)
		if err != nil {
			return nil, err
		}
		out.Frames = append(out.Frames, f)
	}
	return out, nil
}

// answers is the program that answers the page's requests from the game that the page holds; see api.js.
const answers = `globalThis.ownGame = (async () => {
  const bytes = Uint8Array.from(atob(document.getElementById("own").textContent), (c) => c.charCodeAt(0));
  const text = await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
  const own = JSON.parse(text);
  return (path, params) => {
    if (path === "api/games") return own.games;
    if (path === "api/game") return own.game;
    return {from: params.from, gen: own.game.gen, frames: own.frames.slice(params.from, params.from + params.count)};
  };
})();
if (!location.hash) globalThis.ownGame.then((ask) => {
  location.replace("#" + encodeURIComponent(ask("api/game").game.id) + "/0");
});
`

var (
	importLine = regexp.MustCompile(`(?m)^import (\*\s*as\s+(\w+)|\{([^}]*)\}) from "\./([\w.]+)";$`)
	exportWord = regexp.MustCompile(`(?m)^export ((?:async )?function|class|const) (\w+)`)
	pageScript = regexp.MustCompile(`<script type="module" src="([\w.]+)"></script>`)
	pageStyle  = regexp.MustCompile(`<link rel="stylesheet" href="([\w.]+)">`)
	pageIcon   = regexp.MustCompile(`<link rel="icon" href="([\w.]+)"[^>]*>`)
)

// inline returns the page with its programs and styles, and with data in the element "own".
func inline(data string) (string, error) {
	html, err := pageFile("index.html")
	if err != nil {
		return "", err
	}
	style, err := pageFile(pageStyle.FindStringSubmatch(html)[1])
	if err != nil {
		return "", err
	}
	start := pageScript.FindStringSubmatch(html)[1]
	b := bundler{done: map[string]bool{}}
	if err := b.add(start); err != nil {
		return "", err
	}
	html = pageIcon.ReplaceAllLiteralString(html, "")
	html = pageScript.ReplaceAllLiteralString(html, "")
	html = pageStyle.ReplaceAllLiteralString(html, "<style>\n"+style+"</style>")
	end := `<script type="application/octet-stream" id="own">` + data + "</script>\n<script>\n" + answers +
		"const modules = {};\n" + b.out.String() + "</script>\n</body>"
	return strings.Replace(html, "</body>", end, 1), nil
}

func pageFile(name string) (string, error) {
	text, err := page.ReadFile(path.Join("page", name))
	return string(text), err
}

// A bundler puts the modules of the page into one program: each becomes a function that stores its exports in modules,
// behind those that it imports.
type bundler struct {
	out  strings.Builder
	done map[string]bool
}

func (b *bundler) add(name string) error {
	if b.done[name] {
		return nil
	}
	b.done[name] = true
	text, err := pageFile(name)
	if err != nil {
		return err
	}
	for _, m := range importLine.FindAllStringSubmatch(text, -1) {
		if err := b.add(m[4]); err != nil {
			return err
		}
	}
	text = importLine.ReplaceAllStringFunc(text, func(line string) string {
		m := importLine.FindStringSubmatch(line)
		what := m[2]
		if what == "" {
			what = "{" + strings.ReplaceAll(m[3], " as ", ": ") + "}"
		}
		return fmt.Sprintf("const %s = modules[%q];", what, m[4])
	})
	var names []string
	for _, m := range exportWord.FindAllStringSubmatch(text, -1) {
		names = append(names, m[2])
	}
	text = exportWord.ReplaceAllString(text, "$1 $2")
	fmt.Fprintf(&b.out, "(() => {\n%s\nmodules[%q] = {%s};\n})();\n", text, name, strings.Join(names, ", "))
	return nil
}
