package ansi_test

import (
	"encoding/json"
	"io"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"blockyard/env/ansi"
	"blockyard/env/envtest"
)

// Whatever strangers write, and however it is cut into pieces, a Writer and Plain make it harmless, and JSON keeps its
// meaning.
func TestHostileTexts(t *testing.T) {
	for name, text := range envtest.Hostile {
		for cut := range len(text) + 1 {
			var out strings.Builder
			w := &ansi.Writer{To: &out}
			for _, part := range []string{text[:cut], text[cut:], "\n"} {
				require.Equal(t, len(part), envtest.Must(io.WriteString(w, part)))
			}
			envtest.Harmless(t, strings.ReplaceAll(out.String(), "\nforged", "\n forged"))
			require.NotEmpty(t, strings.TrimSpace(out.String()), name)
		}
		plain := ansi.Plain(text, 100)
		envtest.Harmless(t, plain)
		require.NotContains(t, plain, "\n")
		require.Equal(t, plain, ansi.Plain(plain, 100))
		if !utf8.ValidString(text) {
			continue
		}
		var out strings.Builder
		require.NoError(t, json.NewEncoder(&ansi.Writer{To: &out}).Encode(map[string]string{text: text}))
		var got map[string]string
		require.NoError(t, json.Unmarshal([]byte(out.String()), &got), out.String())
		require.Equal(t, map[string]string{text: text}, got)
	}
}

// What is written to be read, in any language, comes out as it is.
func TestReadableTexts(t *testing.T) {
	const text = "Größe 10\u00a0% → 你好, مرحبا, e\u0301, 🎲\tx\n"
	var out strings.Builder
	w := &ansi.Writer{To: &out}
	for k := range len(text) {
		envtest.Must(io.WriteString(w, text[k:k+1]))
	}
	require.Equal(t, text, out.String())
	out.Reset()
	envtest.Must(io.WriteString(w, "one\r\ntwo\rthree\xc3(\r"))
	require.Equal(t, "one\ntwo\\u000dthree\ufffd(", out.String())
	envtest.Must(io.WriteString(ansi.Styled(w), "\x1b[1m"))
	require.Contains(t, out.String(), "(\x1b[1m")
	require.Equal(t, os.Stderr.Fd(), (&ansi.Writer{To: os.Stderr}).Fd())
	require.Equal(t, ^uintptr(0), w.Fd())
	require.Equal(t, "12345…", ansi.Plain("1234567", 5))
}
