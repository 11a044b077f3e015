package contest

import "time"

// Limits is the time control of a contest. A bot has a time bank, which an answer uses up
// and which gains PerMove after every answer.
type Limits struct {
	Bank      time.Duration // at the start
	PerMove   time.Duration // added after every answer
	Most      time.Duration // upper limit of a bank that gains time; 0 means Bank
	Tolerance time.Duration // extra time for an answer, which requests do not show
	Timeouts  int           // a bot is ended after this many time-outs; 0 leaves that to the Referee
}

// FixedPerMove gives first for the first answer and later for each of the others.
func FixedPerMove(first, later, tolerance time.Duration) Limits {
	return Limits{Bank: first, PerMove: later, Most: later, Tolerance: tolerance}
}

// TotalBudget gives d for all answers of a game together.
func TotalBudget(d time.Duration) Limits { return Limits{Bank: d} }

// A Bank is one bot's time in one game.
type Bank struct {
	Limits
	Left     time.Duration // what the next request shows
	Timeouts int           // so far
	Used     time.Duration // for all answers
	Longest  time.Duration // for one answer
}

// NewBank returns a full bank.
func NewBank(l Limits) Bank { return Bank{Limits: l, Left: l.Bank} }

// Limit is how long the host waits for the next answer.
func (b *Bank) Limit() time.Duration { return b.Left + b.Tolerance }

// Charge subtracts an answer's time, or books a time-out, and reports whether the bot has
// reached the limit of time-outs.
func (b *Bank) Charge(elapsed time.Duration, late bool) (out bool) {
	elapsed = max(elapsed, 0)
	b.Used += elapsed
	b.Longest = max(b.Longest, elapsed)
	if b.Left -= elapsed; late || b.Left < 0 {
		b.Left = 0
	}
	most := b.Most
	if most == 0 {
		most = b.Bank
	}
	b.Left = min(b.Left+b.PerMove, most)
	if late {
		b.Timeouts++
	}
	return b.Limits.Timeouts > 0 && b.Timeouts >= b.Limits.Timeouts
}
