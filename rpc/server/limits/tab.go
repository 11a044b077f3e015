package limits

// A Tab is what one owner has taken of a ledger with a token: a session, or one of its handles. Only one goroutine may
// use it at a time.
type Tab struct {
	*Ledger
	holder *Holder
	open   Use
}

// Tab returns a tab with a token on which there is nothing.
func (l *Ledger) Tab(h *Holder) *Tab { return &Tab{Ledger: l, holder: h} }

// Take adds u, or adds nothing and fails if that exceeds a limit. Less never fails.
func (t *Tab) Take(u Use) error {
	err := t.take(t.holder, u)
	if err == nil {
		t.open.add(u, 1)
	}
	return err
}

// Give returns what Take added.
func (t *Tab) Give(u Use) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.add(t.holder, u, -1)
	t.open.add(u, -1)
}

// Memory returns the estimated bytes on the tab.
func (t *Tab) Memory() int64 { return t.open.Memory }

// Add is Take of estimated bytes of memory.
func (t *Tab) Add(n int64) error { return t.Take(Use{Memory: n}) }

// Back removes the memory that was added since Memory was memory.
func (t *Tab) Back(memory int64) { _ = t.Add(min(0, memory-t.open.Memory)) }

// Close returns everything.
func (t *Tab) Close() { t.Give(t.open) }
