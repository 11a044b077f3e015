//go:build !js

package webplay

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"net/http"
	"strings"

	"blockyard/datasets/program/named"
	"blockyard/datasets/program/web"
	"blockyard/datasets/program/web/ask"
	"blockyard/datasets/viewer"
)

const maxBody = 1 << 10 // bytes of a request

// NewServer serves the page of a table. Whoever has the token may play; the page takes it from the fragment of its
// address, which browsers send to nobody, and sends it as a bearer token.
func NewServer(t *Table, token string) http.Handler {
	want := sha256.Sum256([]byte(token))
	page := viewer.Serving("play.html", t.Answers(), maxBody)
	return web.Handler(func(w http.ResponseWriter, r *http.Request) error {
		web.Protect(w.Header())
		if strings.HasPrefix(r.URL.Path, "/api/") {
			given := sha256.Sum256([]byte(strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")))
			if subtle.ConstantTimeCompare(given[:], want[:]) != 1 {
				return ask.Status(http.StatusUnauthorized, errors.New(named.Text("this page needs its token: "+
					"open the whole address that agents play has printed, with what follows #")))
			}
		}
		page.ServeHTTP(w, r)
		return nil
	})
}
