package dropbloxcontest

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"blockyard/agents/dropbloxcontest/protocol"
)

// A Config is a team's name and password, the two lines of config.txt.
type Config struct {
	Team     string
	Password string
}

// maxConfig is the number of bytes read of a config file.
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

// parseConfig reads the team's name and password, one per line. It ignores space around them
// and further lines.
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
