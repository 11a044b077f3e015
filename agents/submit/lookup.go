package submit

import (
	"fmt"
	"strings"

	"blockyard/agents/entry"
	"blockyard/agents/registry"
	"blockyard/env"
	"blockyard/env/games"
)

// lookup finds a game whose contest takes a source file.
func lookup(name string) (*env.Game, *entry.Entry, error) {
	g, err := games.Lookup(name)
	if err != nil {
		return nil, nil, err
	}
	var known []string
	for _, e := range registry.All {
		switch s := e.Submission; {
		case s == nil:
		case e.Game == name && s.Folder != "":
			return g, e, nil
		case e.Game == name:
			return nil, nil, fmt.Errorf("%s has no bot in one file: %s", name, s.Build)
		case s.Folder != "":
			known = append(known, e.Game)
		}
	}
	return nil, nil, fmt.Errorf("%s has no bot in one file: want %s", name, strings.Join(known, ", "))
}

// ply checks a search depth and replaces 0 by the default.
func ply(s *entry.Submission, n int) (int, error) {
	switch {
	case n == 0:
		return 2, nil
	case s.MaxPly == 0:
		return 0, fmt.Errorf("ply %d, but its bot searches in one way only: leave the ply out", n)
	case n < 2 || n > s.MaxPly:
		return 0, fmt.Errorf("ply %d, want 2 to %d", n, s.MaxPly)
	}
	return n, nil
}
