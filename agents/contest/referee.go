package contest

import "time"

// A Referee conducts one game for a Host: it knows the rules of the game, the text of the
// contest's protocol, and what the contest does about each fault of a bot. The Host knows
// time and processes. A Referee belongs to one goroutine.
type Referee interface {
	// Names returns what the log calls the seats.
	Names() []string
	// Round opens the next round: its title in the log, "" for none, and the seats to ask,
	// in order. The game is over if there are none.
	Round() (title string, seats []int)
	// Request returns what to send to a seat in this round. left is the time in its bank.
	Request(seat int, left time.Duration) Request
	// Answer takes a seat's reply and returns what the log should say about it, and whether
	// the bot takes no further part in the game.
	Answer(seat int, r Reply) (remarks []string, out bool)
	// Close ends the round after all answers and returns remarks about its outcome.
	Close() []Comment
	// Outcome returns how the game ended, or how it stands so far.
	Outcome() Outcome
}

// A Request is text for a bot.
type Request struct {
	Lines []string
	// Limit, if not 0, is the time for the answer instead of the bot's bank, which is not charged.
	Limit time.Duration
	// Last says that no answer is expected.
	Last bool
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

// A Comment is a remark about a seat.
type Comment struct {
	Seat int
	Text string
}

// Nobody is the winner of a drawn game.
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
	out := make([]int, seats)
	for seat := range out {
		out[seat] = 1
		if o.Winner != Nobody && o.Winner != seat {
			out[seat] = 2
		}
	}
	return out
}
