// Package dropbloxcontest plays the Dropblox contest: a Player lets a program play a Game
// against the clock, turn by turn, with the console lines and history folders of the original
// client. A Game is Local, on this machine, or Remote, at a contest's server.
//
// Its packages: programs runs one turn of a program; history writes a game's folder;
// tournament compares programs on the same seeds; protocol defines the messages between server
// and clients; teams stores names and passwords; server implements the contest's server.
package dropbloxcontest

import (
	"math/rand/v2"
	"strconv"
	"time"
)

// The contest's time (rules §1).
const (
	Clock  = 300 * time.Second // of a game, from its creation
	Margin = time.Second       // subtracted from the time that a program gets
)

// A Reason is why a game was over.
type Reason string

// The reasons.
const (
	Blocked Reason = "blocked" // the next block found no room
	Time    Reason = "time"    // the clock ran out
	Turns   Reason = "turns"   // the limit on turns was reached
	Stopped Reason = "stopped" // the player or the server was stopped
	Failed  Reason = "failed"  // the program could not be run, or the server not be reached
)

// RandomSeed returns a random 64-bit seed in decimal.
func RandomSeed() string { return strconv.FormatUint(rand.Uint64(), 10) }
