package commands

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/datasets/program/ops/opstest"
	"blockyard/rpc/wire/client"
)

func deployed(t *testing.T, file string) []byte {
	t.Helper()
	b, err := os.ReadFile(file)
	require.NoError(t, err)
	return b
}

// parses asserts that a command line is one of this program.
func parses(t *testing.T, args []string) {
	t.Helper()
	_, err := Program().Parse(t.Context(), args)
	require.NoError(t, err, "%q", args)
}

// The image starts the server and checks its health with flags that exist, at the address that CMD serves. Both images
// have the licenses.
func TestDockerfile(t *testing.T) {
	text := string(deployed(t, "../Dockerfile"))
	require.Contains(t, text, " && cp LICENSE .github/NOTICES /image/all/ \\\n")
	require.Equal(t, 2, strings.Count(text, "\nFROM scratch AS "))
	require.Equal(t, 2, strings.Count(text, "\nCOPY --from=build /image/all /\n"))
	var last []string
	for _, cmd := range regexp.MustCompile(`\bCMD (\[.*\])`).FindAllStringSubmatch(text, -1) {
		require.NoError(t, json.Unmarshal([]byte(cmd[1]), &last))
		if last[0] == "/blockyard-server" {
			require.Contains(t, text, `"--http", "0.0.0.0:`+last[len(last)-1][len("http://127.0.0.1:"):]+`"`)
			last = last[1:]
		}
		parses(t, last)
	}
	require.Equal(t, "serve", last[0])
}

// The manifests name the images of this version and flags that exist.
func TestManifests(t *testing.T) {
	files, err := filepath.Glob("../deploy/kubernetes/*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		text := string(deployed(t, file))
		images := regexp.MustCompile(`image: (.*)`).FindAllStringSubmatch(text, -1)
		require.Len(t, images, 1, file)
		require.Regexp(t, `^blockyard-(server|train):`+regexp.QuoteMeta(version)+`$`, images[0][1])
		if !strings.HasSuffix(file, "servers.yaml") {
			continue
		}
		_, list, _ := strings.Cut(text, "args:\n")
		list, _, _ = strings.Cut(list, "env:")
		var args []string
		for _, a := range regexp.MustCompile(`- (\S+)`).FindAllStringSubmatch(list, -1) {
			args = append(args, a[1])
		}
		require.Greater(t, len(args), 3)
		parses(t, args)
	}
}

// The dashboard and the alerts use metrics that the server has.
func TestDashboard(t *testing.T) {
	p := serve(t, "--listen", "tcp:127.0.0.1:0", "--http", "127.0.0.1:0")
	c, err := client.Dial(t.Context(), p.ready[0], "")
	require.NoError(t, err)
	defer c.Close()
	page := opstest.Scrape(t, p.http)
	dashboard := deployed(t, "../deploy/grafana/blockyard.json")
	require.True(t, json.Valid(dashboard))
	for _, text := range [][]byte{dashboard, deployed(t, "../deploy/prometheus/alerts.yml")} {
		require.Contains(t, string(text), "blockyard_server_")
		require.Empty(t, page.Missing(text, "blockyard_server_"))
		require.Empty(t, page.Missing(text, "process_"))
	}
}
