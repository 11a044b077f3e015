package tournament

import (
	"fmt"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// shared are the parts of a tournament's folder that Handler serves. The sources of submissions are not among them.
var shared = []string{"/", "/" + PageFile, "/replays/", "/" + LogsDir + "/", "/" + GamesDir + "/", "/" + jsonFeed,
	"/" + atomFeed}

// kinds are types of content that the endings of files do not say everywhere.
var kinds = map[string]string{".log": "text/plain; charset=utf-8", ".atom": "application/atom+xml",
	".json": "application/feed+json"}

// pagePolicy lets the page, where authors enter their tokens, talk to its server only and stand in no other page.
const pagePolicy = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// Handler serves the page of the tournament in a folder, with its replays, logs and records.
func Handler(dir string) http.Handler {
	files := http.FileServerFS(os.DirFS(dir))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cache-Control", "no-cache")
		name := path.Clean(r.URL.Path)
		for _, s := range shared {
			if name == s || strings.HasSuffix(s, "/") && s != "/" && strings.HasPrefix(name, s) {
				if kind := kinds[path.Ext(name)]; kind != "" {
					h.Set("Content-Type", kind)
				}
				if s == "/" || s == "/"+PageFile {
					h.Set("Content-Security-Policy", pagePolicy)
					name = PageFile
				}
				// By its date alone, a page that was written twice within a second would look unchanged.
				if info, err := os.Stat(filepath.Join(dir, filepath.FromSlash(name))); err == nil {
					h.Set("ETag", fmt.Sprintf(`"%x-%x"`, info.ModTime().UnixNano(), info.Size()))
				}
				files.ServeHTTP(w, r)
				return
			}
		}
		http.NotFound(w, r)
	})
}
