package limits

// A Tab is what one owner has taken of a ledger with a token: a session, or one of its handles. Only one goroutine may
// use it at a time.
type Tab struct {
	*Ledger
	holder        *Holder
	handles, envs int
	memory        int64
	use           Use
}

// Tab returns a tab with a token on which there is nothing.
func (l *Ledger) Tab(h *Holder) *Tab { return &Tab{Ledger: l, holder: h} }

// Open adds a handle with so many games and estimated bytes of memory, or adds nothing and fails if that exceeds a
// limit.
func (t *Tab) Open(handles, envs int, memory int64) error {
	if err := t.account(t.holder, handles, envs, memory); err != nil {
		return err
	}
	t.handles, t.envs, t.memory = t.handles+handles, t.envs+envs, t.memory+memory
	return nil
}

// Memory returns the estimated bytes on the tab.
func (t *Tab) Memory() int64 { return t.memory }

// Add adds estimated bytes of memory, or adds nothing and fails if that exceeds a limit. A negative n never fails.
func (t *Tab) Add(n int64) error { return t.Open(0, 0, n) }

// Back removes what was added since Memory was memory.
func (t *Tab) Back(memory int64) { _ = t.Add(min(0, memory-t.memory)) }

// Take adds u to what is in use, or adds nothing and fails if that exceeds a limit.
func (t *Tab) Take(u Use) error {
	if err := t.Ledger.Take(u); err != nil {
		return err
	}
	t.use.Add(u)
	return nil
}

// Give returns what Take added.
func (t *Tab) Give(u Use) {
	t.Ledger.Give(u)
	t.use.Add(u.negative())
}

// Close returns everything.
func (t *Tab) Close() {
	_ = t.Open(-t.handles, -t.envs, -t.memory) // less never fails
	t.Give(t.use)
}
