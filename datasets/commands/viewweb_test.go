package commands

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestViewWebErrors(t *testing.T) {
	for args, want := range map[string]string{
		"--web none.jsonl":                     "no such file",
		"--web -":                              "standard input cannot be shown",
		"--web --listen 1.2.3.4.5:1 " + sample: "listen tcp",
		"--web --from 3 " + sample + " " + sample + "#1": "--from with several games",
		sample + " " + sample:                            "the terminal viewer shows one game",
	} {
		status, _, errs := call(append([]string{"view"}, strings.Fields(args)...)...)
		require.Equal(t, 1, status, args)
		require.Contains(t, errs, want, args)
	}
	for args, want := range map[string]string{
		"--open":            "--open needs --web",
		"--live here:1":     "--live needs --web",
		"--html x --web":    "--web and --html can't be used together",
		"--token x --web":   "--token needs --live",
		"--listen here:1 -": "--listen needs --web",
	} {
		status, _, errs := call(append([]string{"view"}, strings.Fields(args)...)...)
		require.Equal(t, 2, status, args)
		require.Contains(t, errs, want, args)
	}
}
