package commands

import (
	"fmt"
	"strings"
	"time"
)

// tournamentClock has the limits of the games of a tournament, with the names that they have in agents host. nil and 0
// are the contest's own.
type tournamentClock struct {
	Timebank  *time.Duration `placeholder:"TIME" help:"blockbattle: time bank at the start, and its maximum."`
	PerMove   *time.Duration `name:"time-per-move" placeholder:"TIME" help:"blockbattle: added after every answer."`
	Budget    *time.Duration `placeholder:"TIME" help:"tetrisduel: time of a bot for a game."`
	FirstTime *time.Duration `placeholder:"TIME" help:"blocking: limit of the first answer, including the start."`
	Time      *time.Duration `placeholder:"TIME" help:"blocking: limit of the later answers."`
	Tolerance *time.Duration `placeholder:"TIME" help:"blocking: added to both limits."`
	Seconds   float64        `placeholder:"N" help:"dropblox: time of an entrant of a game, in seconds. Default: 300."`
	Turns     int            `placeholder:"N" help:"dropblox: end a game after this many turns."`
}

// settings returns the limits that differ from those of the contest, as text for the journal. The error names a limit
// of another contest.
func (c *tournamentClock) settings(game string) (string, error) {
	var said []string
	for _, l := range []struct {
		game, flag string
		value      *time.Duration
	}{
		{"blockbattle", "--timebank", c.Timebank}, {"blockbattle", "--time-per-move", c.PerMove},
		{"tetrisduel", "--budget", c.Budget}, {"blocking", "--first-time", c.FirstTime},
		{"blocking", "--time", c.Time}, {"blocking", "--tolerance", c.Tolerance},
	} {
		switch {
		case l.value == nil:
		case l.game != game:
			return "", fmt.Errorf("%s %v: it is a limit of %s, not of %s", l.flag, *l.value, l.game, game)
		default:
			said = append(said, fmt.Sprintf("%s %v", l.flag, *l.value))
		}
	}
	switch {
	case game != "dropblox" && (c.Seconds != 0 || c.Turns != 0):
		return "", fmt.Errorf("--seconds and --turns are limits of dropblox, not of %s", game)
	case !(c.Seconds >= 0 && c.Seconds <= 1e6):
		return "", fmt.Errorf("--seconds %g: want more than 0, at most a million", c.Seconds)
	case c.Turns < 0:
		return "", fmt.Errorf("--turns %d: want a number from 1, or 0 for no limit", c.Turns)
	case game == "dropblox":
		said = append(said, c.dropblox().String())
	}
	if c.Turns > 0 {
		said = append(said, fmt.Sprintf("--turns %d", c.Turns))
	}
	return strings.Join(said, " "), nil
}

// dropblox is the time of a game of Dropblox.
func (c *tournamentClock) dropblox() time.Duration {
	if c.Seconds == 0 {
		return 300 * time.Second
	}
	return time.Duration(c.Seconds * float64(time.Second))
}

// apply changes the limits of a command of agents host.
func (c *tournamentClock) apply(command any) {
	set := func(limit, value *time.Duration) {
		if value != nil {
			*limit = *value
		}
	}
	switch h := command.(type) {
	case *hostBlockbattleCmd:
		set(&h.Timebank, c.Timebank)
		set(&h.PerMove, c.PerMove)
	case *hostTetrisduelCmd:
		set(&h.Budget, c.Budget)
	case *hostBlockingCmd:
		set(&h.FirstTime, c.FirstTime)
		set(&h.Time, c.Time)
		set(&h.Tolerance, c.Tolerance)
	}
}
