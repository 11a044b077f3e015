//go:build !js

package main

import (
	"bytes"
	"compress/gzip"
	"embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"blockyard/datasets/program/disk"
	"blockyard/datasets/viewer"
	"blockyard/env/games"
)

//go:embed page
var page embed.FS

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: playground PROGRAM.wasm WASM_EXEC.js FOLDER")
		os.Exit(2)
	}
	if err := write(os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, "playground:", err)
		os.Exit(1)
	}
}

// write writes the folder of the pages around a program, with the support of the Go that built it. The pages work from
// a disk too: a browser lets a page of a disk load programs and nothing else, so the WebAssembly is text in one.
func write(program, support, folder string) error {
	packed, err := pack(program)
	if err != nil {
		return err
	}
	glue, err := os.ReadFile(support)
	if err != nil {
		return err
	}
	files := map[string]string{}
	type game struct{ Name, Title string }
	var list []game
	for _, g := range games.All {
		if !strings.Contains(g.Name, ":") {
			list = append(list, game{g.Name, g.Title})
			files["rules/"+g.Name+".txt"] = games.Rules(g)
		}
	}
	data, err := json.Marshal(struct {
		Games         []game
		Support, Wasm string
	}{list, string(glue), packed})
	if err != nil {
		return err
	}
	files["program.js"] = "const program = " + string(data) + ";\n"
	script, err1 := page.ReadFile("page/playground.js")
	style, err2 := page.ReadFile("page/playground.css")
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	own := fmt.Sprintf("<style>\n%s</style>\n<script src=\"program.js\"></script>\n<script>\n%s</script>\n", style, script)
	for name, source := range map[string]string{"index.html": "play.html", "watch.html": "index.html"} {
		files[name] = viewer.Standalone(source, own)
	}
	for name, text := range files {
		path := filepath.Join(folder, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), disk.WriteText(path, 0o644, text)); err != nil {
			return err
		}
	}
	return nil
}

func pack(path string) (string, error) {
	plain, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	var packed bytes.Buffer
	zip, _ := gzip.NewWriterLevel(&packed, gzip.BestCompression) // there is such a level
	_, err = zip.Write(plain)
	err = errors.Join(err, zip.Close())
	return base64.StdEncoding.EncodeToString(packed.Bytes()), err
}
