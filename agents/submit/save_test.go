package submit

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// A bot may be written to a folder that does not exist yet.
func TestSaveMakesTheFolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "folder", "bot.go")
	require.NoError(t, save(path, []byte("text")))
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "text", string(text))
}
