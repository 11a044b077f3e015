package viewer

import (
	"encoding/json"
	"net/http"
	"testing"

	"blockyard/datasets/program/web/webtest"

	"github.com/stretchr/testify/require"
)

// A tab is a page of the browser that shows a Server's page.
type tab struct{ *webtest.Tab }

// browse opens a browser on a server of its own that shows paths.
func browse(t *testing.T, paths ...string) *tab {
	l, err := NewLibrary(paths)
	require.NoError(t, err)
	return browseAt(t, NewServer(l, nil))
}

// browseAt opens a browser on a server.
func browseAt(t *testing.T, handler http.Handler) *tab { return &tab{webtest.Open(t, handler)} }

// on makes what fails fail t.
func (b *tab) on(t *testing.T) *tab {
	b.T = t
	return b
}

// counter waits until the page shows turn n of last, given without its thousands' commas.
func (b *tab) counter(text string) {
	b.Helper()
	b.Await("document.querySelector('#counter').textContent.replaceAll(',', '') === 'Turn " + text + "'")
}

func jsonOf(text string, into any) error { return json.Unmarshal([]byte(text), into) }
