package program

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/env/ansi"
	"blockyard/env/envtest"
)

type repeat struct {
	Print repeatCmd `cmd:""`
}

type repeatCmd struct{ Text string }

func (c *repeatCmd) String() string { return c.Text + "\n" }

func (c *repeatCmd) Run(con *Console) error {
	err := errors.Join(con.Print(false, c), con.Print(true, c))
	fmt.Fprintln(con.Err, c.Text)
	return errors.Join(err, errors.New(c.Text))
}

// Whatever a command prints, as text, as JSON or as its error, is harmless. It need not care.
func TestCommandsPrintHarmlessText(t *testing.T) {
	for name, text := range envtest.Hostile {
		if name == "another line" {
			continue // lines of a command may be anything
		}
		var out bytes.Buffer
		p := &Program{Name: "test", Commands: new(repeat)}
		require.Equal(t, Failed, p.Run(t.Context(), []string{"print", "--text", text}, &Console{Out: &out, Err: &out}))
		envtest.Harmless(t, out.String())
		require.Equal(t, 4, bytes.Count(out.Bytes(), []byte("\n")), "text, JSON, standard error and the error: %q", &out)
		out.Reset()
		require.Equal(t, Wrong, p.Run(t.Context(), []string{text}, &Console{Out: &out, Err: &out}))
		envtest.Harmless(t, out.String())
	}
	var out bytes.Buffer
	raw := Raw(&ansi.Writer{To: &out})
	fmt.Fprint(ansi.Styled(raw), "\x1b[1m\n")
	fmt.Fprint(raw, "\x1b[1m\n")
	require.Equal(t, "\x1b[1m\r\n\\u001b[1m\r\n", out.String(), "a terminal in raw mode")
	bar := NewBar(&out, true, 3, "games")
	bar.Show(1, "\x1b[2J")
	require.NotContains(t, bar.State().Description, "\x1b")
}
