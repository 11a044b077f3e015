package tournament

import (
	"net/http"
	"os"
	"path"
	"strings"
)

// shared are the parts of a tournament's folder that Handler serves. The sources of submissions are not among them.
var shared = []string{"/", "/" + PageFile, "/replays/", "/" + LogsDir + "/", "/" + GamesDir + "/"}

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
				if strings.HasSuffix(name, ".log") {
					h.Set("Content-Type", "text/plain; charset=utf-8")
				}
				files.ServeHTTP(w, r)
				return
			}
		}
		http.NotFound(w, r)
	})
}
