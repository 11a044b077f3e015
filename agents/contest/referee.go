package contest

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"blockyard/env"
)

// A Contest is what a host has to know of a game's contest besides the rules of the game.
type Contest struct {
	About   string   // for those who host it: what loses a game, and what is special about the contest
	Options []Option // what a host may set
	Losses  []string // reasons of an Outcome for which the loser is to blame, such as "illegal"
	Uploads Uploads
	// Open returns how games of g are played. It is nil if series.Rounds starts programs anew for every turn.
	Open func(g *env.Game, s Settings) (*Setup, error)
}

// Uploads are the forms in which a contest took programs, beside those in which all do.
type Uploads struct {
	Program string         // name of a file that is started whatever its language, such as dropblox_ai; "" for none
	Kit     []string       // names of files that contestants got, which are no part of a bot, such as client.py
	Class   *regexp.Regexp // what a file in Python has that Wrapper runs; nil for none
	Wrapper string         // a program in Python that takes such a file as its argument
}

// An Option is a setting of a contest. Every host has a flag of its name. Two names mean the same everywhere: new-seed
// (game: each has a seed of its own, else the games of a set share one) and seatings (all orders of the bots).
type Option struct {
	Name    string   // of the flag
	Takes   string   // what stands behind the flag, such as TIME, N or FILE; "" with Choices and for a switch (on)
	Choices []string // the words that it takes, the default first; nil for any text
	Default string   // without Choices; "" for none
	Help    string
	Empty   bool   // whether the empty text has a meaning
	Needs   string // a tag of the flag for package program
	Clock   bool   // a tournament may change it too, as it may every part of the contest's clock
	// Variant marks an option that names a variant of the game, as GAME:VALUE, or GAME:NAME=VALUE if it takes a file.
	Variant bool
}

// Settings are the values of a contest's options by their names, as text.
type Settings map[string]string

// Settings returns the settings of a contest from the options that a user has given. The error names an option that the
// contest does not have, or a word that an option does not take.
func (c *Contest) Settings(given Settings) (Settings, error) {
	out := Settings{}
	var names []string
	for _, o := range c.Options {
		names = append(names, "--"+o.Name)
		value, ok := given[o.Name]
		switch {
		case !ok && o.Choices != nil:
			value = o.Choices[0]
		case !ok:
			value = o.Default
		case o.Choices != nil && !slices.Contains(o.Choices, value):
			return nil, fmt.Errorf("--%s %.40s: want %s", o.Name, value, strings.Join(o.Choices, " or "))
		}
		out[o.Name] = value
	}
	for name := range given {
		if _, ok := out[name]; !ok {
			slices.Sort(names)
			return nil, fmt.Errorf("--%s is no option of this contest, which has %s", name, strings.Join(names, " "))
		}
	}
	return out, nil
}

// Game returns the name of the game to play: name, or its variant that an option names.
func (c *Contest) Game(name string, given Settings) (string, error) {
	base, variant, _ := strings.Cut(name, ":")
	for _, o := range c.Options {
		value, ok := given[o.Name]
		if !o.Variant || !ok {
			continue
		}
		if o.Takes == "FILE" {
			value = o.Name + "=" + value
		} else if !slices.Contains(o.Choices, value) {
			return "", fmt.Errorf("--%s %.40s: want %s", o.Name, value, strings.Join(o.Choices, " or "))
		}
		if variant != "" && variant != value {
			return "", fmt.Errorf("--%s %s conflicts with %s: leave one of them out", o.Name, given[o.Name], name)
		}
		if o.Choices == nil || value != o.Choices[0] {
			base += ":" + value
		}
		return base, nil
	}
	return name, nil
}

// Number returns the setting of an option that takes a whole number of at least least. Without a value it is 0.
func (s Settings) Number(name string, least int) (int, error) {
	if s[name] == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(s[name])
	if err != nil || n < least {
		return 0, fmt.Errorf("--%s %.40s: want a whole number from %d", name, s[name], least)
	}
	return n, nil
}

// Time returns the setting of an option that takes a time of at least least.
func (s Settings) Time(name string, least time.Duration) (time.Duration, error) {
	d, err := time.ParseDuration(s[name])
	if err != nil || d < least {
		return 0, fmt.Errorf("--%s %.40s: want a time of at least %v, such as 500ms", name, s[name], least)
	}
	return d, nil
}

type Setup struct {
	Games    int      // how many to play, if the settings say so; otherwise 0
	Dialects []string // other dialects of the protocol that a bot may speak instead; see Linguist
	// New returns the host of a game that begins in s, without Start and Log. It calls moves with who acts and what they
	// do, before every step of the game. It may change s, and then returns true.
	New func(s env.State, moves func(acting env.Seats, m env.Moves)) (h Host, changed bool)
}

// A Referee conducts one game for a Host: it knows the rules of the game, the text of the contest's protocol, and what
// the contest does about each fault of a bot. The Host knows time and processes. A Referee belongs to one goroutine.
type Referee interface {
	Names() []string // what the log calls the seats
	// Round opens the next round: its title in the log, "" for none, and the seats to ask,
	// in order. The game is over if there are none.
	Round() (title string, seats []int)
	// Request returns what to send to a seat in this round. left is the time in its bank.
	Request(seat int, left time.Duration) Request
	// Answer takes a seat's reply and returns what the log should say about it, and whether
	// the bot takes no further part in the game.
	Answer(seat int, r Reply) (remarks []string, out bool)
	Close() []Comment // ends the round after all answers and returns remarks about its outcome
	Outcome() Outcome // how the game ended, or how it stands so far
}

// A Reader is a Referee of a contest that makes a move of every answer.
type Reader interface {
	Reads(seat int, line string) bool // whether any part of an answer says something
}

// A Linguist is a Referee or a Codec of a contest whose protocol has dialects: the values of its option "dialect".
type Linguist interface {
	Speak(seat int, dialect string) error // speaks that dialect with the bot of a seat
}

// Speak makes a Referee or a Codec speak a dialect with the bot of a seat; "" changes nothing.
func Speak(with any, seat int, dialect string) error {
	if dialect == "" {
		return nil
	}
	l, ok := with.(Linguist)
	if !ok {
		return fmt.Errorf("dialect %.40q: this contest has one: leave it out of bot.toml", dialect)
	}
	return l.Speak(seat, dialect)
}

type Request struct {
	Lines []string
	// Limit, if not 0, is the time for the answer instead of the bot's bank, which is not charged.
	Limit time.Duration
	Last  bool // says that no answer is expected
}

// A Fault is why a bot has no valid answer.
type Fault int

// The faults.
const (
	NoFault Fault = iota
	Missing       // the bot could not be started
	Late          // no answer in time
	Gone          // the bot has ended or closed its output
	Out           // the bot was removed from the game earlier
	TooLong       // the answer is longer than MaxLine and was cut
)

// A Reply is a bot's answer, or why there is none.
type Reply struct {
	Line    string // set with NoFault and TooLong
	Fault   Fault
	Limit   time.Duration // time that the bot had for the answer
	Elapsed time.Duration
	Bank    *Bank // the bot's, after the reply was charged
	Ended   bool  // this time-out was the last that Limits allow: the bot is out of the game
}

type Comment struct {
	Seat int
	Text string
}

const Nobody = -1

// An Outcome is how a game ended. Slices are by seat; a contest fills those that it knows.
type Outcome struct {
	Winner int    // seat, or Nobody
	Reason string // why the game was over
	Points []int
	Ranks  []int
	Faults []string          // what each bot was eliminated for
	Meta   map[string]string // of the game's record
}

// Ranks returns the ranks of some points: 1 and how many are higher.
func Ranks(points []int) []int {
	out := make([]int, len(points))
	for k, own := range points {
		out[k] = 1
		for _, other := range points {
			if other > own {
				out[k]++
			}
		}
	}
	return out
}

// Ranking returns the ranks of the seats: those that the contest says, or those of the winner and the others.
func (o Outcome) Ranking(seats int) []int {
	if len(o.Ranks) == seats {
		return o.Ranks
	}
	out := slices.Repeat([]int{2}, seats)
	for seat := range out {
		if o.Winner == Nobody || o.Winner == seat {
			out[seat] = 1
		}
	}
	return out
}
