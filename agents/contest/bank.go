package contest

import "time"

// Limits say how much time a contest gives.
type Limits struct {
	Bank     time.Duration // at the start, and the most there can be
	PerMove  time.Duration // added after every answer
	Timeouts int           // this many end a bot's process
}

// A Bank is one bot's time in one game.
type Bank struct {
	Limits
	Left     time.Duration // what the next request shows
	Timeouts int           // so far
	Used     time.Duration // in all answers together
	Longest  time.Duration // answer
}

// NewBank opens a full bank.
func NewBank(l Limits) *Bank { return &Bank{Limits: l, Left: l.Bank} }

// Charge books an answer that took elapsed, or a time-out, and reports whether the bot
// has now timed out as often as it may.
func (b *Bank) Charge(elapsed time.Duration, late bool) (out bool) {
	if elapsed < 0 {
		elapsed = 0
	}
	b.Used += elapsed
	if elapsed > b.Longest {
		b.Longest = elapsed
	}
	if b.Left -= elapsed; late || b.Left < 0 {
		b.Left = 0
	}
	if b.Left += b.PerMove; b.Left > b.Bank {
		b.Left = b.Bank
	}
	if late {
		b.Timeouts++
	}
	return b.Timeouts >= b.Limits.Timeouts
}
