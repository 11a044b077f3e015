package dropbloxcontest

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"blockyard/agents/dropbloxcontest/protocol"
)

// A Config is who plays in a contest: the two lines of config.txt.
type Config struct {
	Team     string
	Password string
}

// maxConfig is how much of a config file is looked at, in bytes.
const maxConfig = 4 << 10

// ReadConfig reads a config file.
func ReadConfig(path string) (Config, error) {
	f, err := os.Open(path)
	if err != nil {
		return Config{}, err
	}
	defer f.Close()
	c, err := parseConfig(f)
	if err != nil {
		return c, fmt.Errorf("%s: %w", path, err)
	}
	return c, nil
}

// parseConfig reads team name and password, a line each; space around them and what
// follows them counts for nothing.
func parseConfig(r io.Reader) (c Config, err error) {
	text, err := io.ReadAll(io.LimitReader(r, maxConfig))
	if err != nil {
		return c, err
	}
	lines := strings.Split(strings.TrimPrefix(string(text), "\ufeff"), "\n")
	if len(lines) < 2 {
		return c, errors.New("want two lines: team name and password")
	}
	c = Config{strings.TrimSpace(lines[0]), strings.TrimSpace(lines[1])}
	switch {
	case c.Team == "" || len(c.Team) > protocol.MaxName:
		return c, fmt.Errorf("line 1: a team name of %d bytes, want 1 to %d", len(c.Team), protocol.MaxName)
	case c.Password == "" || len(c.Password) > protocol.MaxSecret:
		return c, fmt.Errorf("line 2: a password of %d bytes, want 1 to %d", len(c.Password), protocol.MaxSecret)
	}
	return c, nil
}
