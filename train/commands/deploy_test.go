package commands

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The example for Kubernetes starts workers with flags that exist.
func TestWorkersManifest(t *testing.T) {
	text, err := os.ReadFile("../../rpc/deploy/kubernetes/workers.yaml")
	require.NoError(t, err)
	_, list, _ := strings.Cut(string(text), "args:\n")
	list, _, _ = strings.Cut(list, "env:")
	var args []string
	for _, a := range regexp.MustCompile(`- (\S+)`).FindAllStringSubmatch(list, -1) {
		args = append(args, a[1])
	}
	require.Contains(t, args, "join")
	_, err = Program().Parse(t.Context(), args)
	require.NoError(t, err, "%q", args)
}
