package dropbloxcontest

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"blockyard/agents/dropbloxcontest/protocol"
)

// A Config is a team's name and password, the two lines of config.txt.
type Config struct {
	Team     string
	Password string
}

// ReadConfig reads a config file.
func ReadConfig(path string) (Config, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return Config{}, err
	}
	c, err := parseConfig(string(text))
	if err != nil {
		err = fmt.Errorf("%s: %w", path, err)
	}
	return c, err
}

// parseConfig reads the team's name and password, one per line. It ignores space around them
// and further lines.
func parseConfig(text string) (c Config, err error) {
	lines := strings.Split(strings.TrimPrefix(text, "\ufeff"), "\n")
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
