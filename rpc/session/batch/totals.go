package batch

// counted is how many illegal actions and choices of agents in the games of a batch are part of the server's totals.
type counted struct{ illegal, decisions uint64 }

// Stepped adds a step of so many rows to the server's totals, and what Counted adds.
func (b *Batch) Stepped(rows int) (illegal uint64) {
	b.tab.Totals.Steps.Add(1)
	b.tab.Totals.SeatSteps.Add(uint64(rows))
	return b.Counted()
}

// Counted adds the illegal actions and the choices of agents since the last call to the server's totals, and returns
// how many illegal actions these are.
func (b *Batch) Counted() (illegal uint64) {
	now, before, totals := counted{}, b.counted, &b.tab.Totals
	now.illegal, now.decisions = b.Env.Counted()
	if illegal = now.illegal - before.illegal; illegal != 0 {
		totals.Illegal.Add(illegal)
	}
	if n := now.decisions - before.decisions; n != 0 {
		totals.Decisions.Add(n)
	}
	b.counted = now
	return illegal
}
