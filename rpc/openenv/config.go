package openenv

import (
	"cmp"
	"fmt"
	"log/slog"
	"math"
	"strings"
	"time"

	"blockyard/env"
	"blockyard/env/vec"
	"blockyard/rpc/server"
)

// Config configures a Server. Zero values are defaults, but for Game, Opponent and Guests.
type Config struct {
	Game      *env.Game
	Seats     int              // 0 means Game.MinSeats
	Seat      int              // the client's, unless its reset names another
	Opponent  vec.AgentFactory // plays the other seats
	Opponents string           // the spec of Opponent, for people
	Reward    vec.Reward
	Penalty   float64 // of an illegal move: the reward is minus this, and the position stays as it is
	StepLimit int     // moves, illegal ones included, after which an episode is truncated; 0 means never
	Rules     string  // the rules of the game for readers, as Markdown
	Version   string

	Values Values // of the moves in children; nil for none
	Unit   string // of Values, for people

	Guests *server.Server // counts the sessions, and knows limits and tokens
	Hosts  []string       // names of this server besides localhost and IP addresses, for the Host header
	Idle   time.Duration  // after which a session that nobody uses is closed
	Log    *slog.Logger
}

// Limits of requests and of what a client names, in bytes.
const (
	mostMessage = 64 << 10
	mostID      = 255
)

// DefaultIdle leaves a language model time to think.
const DefaultIdle = 30 * time.Minute

// check returns c with its defaults, or an error that names the field.
func (c Config) check() (Config, error) {
	c.Seats = cmp.Or(c.Seats, c.Game.MinSeats)
	c.Idle = cmp.Or(c.Idle, DefaultIdle)
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Reward == vec.RewardDefault {
		c.Reward = vec.DefaultReward(c.Game)
	}
	name := c.Game.Name
	switch {
	case c.Seats < c.Game.MinSeats || c.Seats > c.Game.MaxSeats:
		return c, fmt.Errorf("%s has %d to %d seats, got %d", name, c.Game.MinSeats, c.Game.MaxSeats, c.Seats)
	case c.checkSeat(c.Seat) != nil:
		return c, c.checkSeat(c.Seat)
	case c.Seats > 1 && c.Opponent == nil:
		return c, fmt.Errorf("%s has %d seats: want an opponent for the others", name, c.Seats)
	case c.StepLimit < 0:
		return c, fmt.Errorf("the step limit is %d, want at least 0", c.StepLimit)
	case c.Idle < time.Second:
		return c, fmt.Errorf("the idle time-out is %v, want at least 1s", c.Idle)
	case !(c.Penalty >= 0) || math.IsInf(c.Penalty, 0):
		return c, fmt.Errorf("the penalty of an illegal move is %v, want a number of at least 0", c.Penalty)
	}
	for _, h := range c.Hosts {
		if h == "" || strings.ContainsAny(h, ":/ ") {
			return c, fmt.Errorf("host %q: want a name without a port, such as games.example.org", h)
		}
	}
	return c, nil
}

func (c *Config) checkSeat(seat int) error {
	if seat < 0 || seat >= c.Seats {
		return fmt.Errorf("seat is %d, want 0 to %d", seat, c.Seats-1)
	}
	return nil
}

// vec returns the configuration of a game in which the client has a seat.
func (c *Config) vec(seat int) vec.Config {
	out := vec.Config{Envs: 1, Seats: c.Seats, Autoreset: vec.Disabled, Reward: c.Reward, Workers: 1}
	if c.Seats > 1 {
		out.Agents = make([]vec.AgentFactory, c.Seats)
		for k := range out.Agents {
			if k != seat {
				out.Agents[k] = c.Opponent
			}
		}
	}
	return out
}
