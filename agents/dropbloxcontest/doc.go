// Package dropbloxcontest plays Dropblox with programs against the clock: games dealt here
// (Local) and games of a contest's server (Remote), turn by turn, with the console lines
// and history folders of the original client.
//
// Below it: programs runs one turn of a program, history writes folders, protocol is what
// server and clients say to each other, teams who may play, server the contest's server.
package dropbloxcontest

import (
	"crypto/rand"
	"encoding/binary"
	"strconv"
	"time"
)

// The contest's time (rules §1).
const (
	Clock  = 300 * time.Second // of a game, from its creation
	Margin = time.Second       // taken off what a program is told
)

// A Reason is why a game was over.
type Reason string

// The reasons.
const (
	Blocked Reason = "blocked" // the next block found no room
	Time    Reason = "time"    // the clock ran out
	Turns   Reason = "turns"   // as many turns were played as were asked for
	Stopped Reason = "stopped" // somebody ended it
	Failed  Reason = "failed"  // the program could not be run, or the server not be reached
)

// RandomSeed draws a seed of 64 bits, in decimal.
func RandomSeed() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return strconv.FormatUint(binary.LittleEndian.Uint64(b[:]), 10)
}
