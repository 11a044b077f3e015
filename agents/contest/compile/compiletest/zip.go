package compiletest

import (
	"archive/zip"
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/env/envtest"
)

// Zip returns a zip archive of files, given as names and texts in turn.
func Zip(t testing.TB, files ...string) string {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for k := 0; k < len(files); k += 2 {
		w := envtest.Must(z.Create(files[k]))
		envtest.Must(w.Write([]byte(files[k+1])))
	}
	require.NoError(t, z.Close())
	return b.String()
}
