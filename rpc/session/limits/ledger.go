package limits

import (
	"cmp"
	"crypto/sha256"
	"math"
	"reflect"
	"sync"
	"time"

	"blockyard/rpc/wire"
)

// A Use is what something takes of what a server bounds. Running out of one of the last four, which the kernel and the
// runtime bound, would end the whole server, not only the request that needs one more.
type Use struct {
	Sessions   int // admitted clients
	Handles    int
	Envs       int
	Memory     int64 // estimated bytes
	Mappings   int   // of memory shared with clients
	Files      int   // file descriptors
	Goroutines int
	Timers     int
}

// SessionUse is what a connection takes: its socket, the goroutines that read and answer, and two deadlines.
var SessionUse = Use{Sessions: 1, Files: 1, Goroutines: 2, Timers: 2}

// add adds v, sign times.
func (u *Use) add(v Use, sign int64) {
	sum, more := reflect.ValueOf(u).Elem(), reflect.ValueOf(v)
	for k := range sum.NumField() {
		sum.Field(k).SetInt(sum.Field(k).Int() + sign*more.Field(k).Int())
	}
}

// A Ledger counts what is open and refuses what exceeds the limits of the server or of a token.
type Ledger struct {
	Requests, Replies *Pool
	Totals            Totals

	limits  Limits
	bounds  []bound
	holders []*Holder // of the tokens

	mu    sync.Mutex
	open  Use
	quiet time.Time // when the last session ended
}

// An Open is what clients have taken from the server and not given back: in all, and by token.
type Open struct {
	Use
	Tokens []TokenCount // of the tokens with a name
}

// A TokenCount is what all sessions with a token have open. Tokens without a name are left out.
type TokenCount struct {
	Name string
	Use
}

// NewLedger returns a ledger in which nothing is open.
func NewLedger(l Limits, tokens []Token) *Ledger {
	ledger := &Ledger{limits: l, quiet: time.Now(), Requests: newRequests(&l), Replies: newReplies(&l),
		bounds: boundsOf(reflect.ValueOf(l), 0)}
	ledger.Totals.Took = func(time.Duration) {} // until somebody wants to know
	for _, t := range tokens {
		ledger.holders = append(ledger.holders, &Holder{Token: t, sum: sha256.Sum256([]byte(t.Secret)),
			bounds: boundsOf(reflect.ValueOf(t), math.MaxInt64)})
	}
	return ledger
}

// Open returns what all sessions have taken now, at one moment.
func (l *Ledger) Open() Open {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := Open{Use: l.open}
	for _, h := range l.holders {
		if h.Name() != "" {
			out.Tokens = append(out.Tokens, TokenCount{h.Name(), h.open})
		}
	}
	return out
}

// Idle returns for how long there has been no session; 0 if there is one.
func (l *Ledger) Idle() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open.Sessions > 0 {
		return 0
	}
	return time.Since(l.quiet)
}

// A bound is the most of one thing that may be open.
type bound struct {
	name  string // such as max_envs
	field int    // of a Use
	most  int64
}

var useFields = reflect.VisibleFields(reflect.TypeFor[Use]())

// boundsOf are the limits of a Use in a struct, which has a field MaxEnvs for Envs. A limit of 0 is none instead.
func boundsOf(limits reflect.Value, none int64) (all []bound) {
	for k, f := range useFields {
		if of, ok := limits.Type().FieldByName("Max" + f.Name); ok && of.Tag.Get("per") == "" {
			all = append(all, bound{nameOf(of), k, cmp.Or(limits.FieldByIndex(of.Index).Int(), none)})
		}
	}
	return all
}

// exceeded returns the first bound that more exceeds and what would be open then, or nil. Less never does.
func exceeded(all []bound, open, more Use) (*bound, int64) {
	have, add := reflect.ValueOf(open), reflect.ValueOf(more)
	for k, b := range all {
		if n := add.Field(b.field).Int(); n > 0 && have.Field(b.field).Int()+n > b.most {
			return &all[k], have.Field(b.field).Int() + n
		}
	}
	return nil, 0
}

// take adds u to what is open with a token, or adds nothing and fails if that exceeds a limit.
func (l *Ledger) take(h *Holder, u Use) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := h.room(u); err != nil {
		return err
	}
	if b, n := exceeded(l.bounds, l.open, u); b != nil {
		return wire.Exceeds(b.name, b.most, n, flagOf(b.name))
	}
	l.add(h, u, 1)
	return nil
}

// add adds u to what is open with a token, sign times. The caller holds mu.
func (l *Ledger) add(h *Holder, u Use, sign int64) {
	l.open.add(u, sign)
	if h != nil {
		h.open.add(u, sign)
	}
}

// Linger adds to the memory of what is open with a token, without a limit: it was part of what is being closed.
func (l *Ledger) Linger(h *Holder, n int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.add(h, Use{Memory: n}, 1)
}

// ReplyRoom is the space that a response needs beside its bulk data.
const ReplyRoom = 1024

// Room returns how many bytes of bulk data fit into a response.
func (l *Ledger) Room() int { return l.limits.MaxReply - ReplyRoom }

// Fits returns an error if n bytes of bulk data do not fit into a response.
func (l *Ledger) Fits(n int) error {
	if n <= l.Room() {
		return nil
	}
	return wire.Exceeds("max_reply", int64(l.limits.MaxReply), int64(n+ReplyRoom), "--max-reply")
}

// A Tab is what one owner, a session or one of its handles, has taken of a ledger. One goroutine uses it at a time.
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
	if u.Sessions > 0 && t.Ledger.open.Sessions == 0 {
		t.quiet = time.Now()
	}
}

// Memory returns the estimated bytes on the tab.
func (t *Tab) Memory() int64 { return t.open.Memory }

// Add takes n bytes of memory more, or adds nothing and returns the error of Take. n may be negative.
func (t *Tab) Add(n int64) error { return t.Take(Use{Memory: n}) }

// Back gives back the memory that was added since Memory returned this value.
func (t *Tab) Back(memory int64) { _ = t.Add(min(0, memory-t.open.Memory)) }

// Close gives back everything on the tab, which is then empty.
func (t *Tab) Close() { t.Give(t.open) }
