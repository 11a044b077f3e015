// Package teams stores the teams of a contest in a file of names and hashed passwords, and checks passwords.
//
// A line is NAME:pbkdf2-sha256:ITERATIONS:SALT:HASH, with salt and hash in base64. Empty lines
// and lines that begin with # are ignored.
package teams

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"

	"blockyard/agents/contest/dropblox/protocol"
	"blockyard/datasets/program/disk"
	"blockyard/env/ansi"
)

// Limits of a file of teams.
const (
	MaxTeams      = 10_000
	maxIterations = 10_000_000
	scheme        = "pbkdf2-sha256"
	iterations    = 200_000
	saltLen       = 16
)

// A Team is one line of the file.
type Team struct {
	Name       string
	Iterations int
	Salt, Hash []byte
}

func New(name, password string) (Team, error) {
	t := Team{Name: name, Iterations: iterations, Salt: make([]byte, saltLen)}
	if err := CheckName(name); err != nil {
		return t, err
	}
	if password == "" || len(password) > protocol.MaxSecret {
		return t, fmt.Errorf("team %s: a password of %d bytes, want 1 to %d", name, len(password), protocol.MaxSecret)
	}
	_, _ = rand.Read(t.Salt) // never fails
	t.Hash = t.derive(password)
	return t, nil
}

// CheckName returns an error if the file cannot hold the name.
func CheckName(name string) error {
	if name == "" || len(name) > protocol.MaxName {
		return fmt.Errorf("a team's name of %d bytes, want 1 to %d", len(name), protocol.MaxName)
	}
	if strings.TrimSpace(name) != name || name[0] == '#' || strings.Contains(name, ":") ||
		ansi.Plain(name, protocol.MaxName) != name {
		return fmt.Errorf("a team's name %q: want text without a colon, no space around it, no # in front", name)
	}
	return nil
}

func (t *Team) derive(password string) []byte {
	sum, err := pbkdf2.Key(sha256.New, password, t.Salt, t.Iterations, sha256.Size)
	if err != nil {
		panic("teams: " + err.Error()) // only for invalid lengths or counts, which Read refuses
	}
	return sum
}

func (t *Team) String() string {
	b := base64.RawStdEncoding.EncodeToString
	return strings.Join([]string{t.Name, scheme, strconv.Itoa(t.Iterations), b(t.Salt), b(t.Hash)}, ":")
}

// Read reads a file of teams. Errors contain its name.
func Read(name string, r io.Reader) ([]Team, error) {
	var list []Team
	seen := map[string]bool{}
	in := bufio.NewScanner(r)
	in.Buffer(nil, 4096)
	for n := 1; in.Scan(); n++ {
		line := strings.TrimSuffix(in.Text(), "\r")
		if strings.TrimSpace(line) == "" || line[0] == '#' {
			continue
		}
		t, err := parse(line)
		switch {
		case err != nil:
		case seen[t.Name]:
			err = fmt.Errorf("team %s is there twice", t.Name)
		case len(list) == MaxTeams:
			err = fmt.Errorf("more than %d teams", MaxTeams)
		}
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, n, err)
		}
		seen[t.Name] = true
		list = append(list, t)
	}
	if err := in.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return list, nil
}

func parse(line string) (t Team, err error) {
	f := strings.Split(line, ":")
	if len(f) != 5 || f[1] != scheme {
		return t, errors.New("want NAME:" + scheme + ":ITERATIONS:SALT:HASH")
	}
	if err := CheckName(f[0]); err != nil {
		return t, err
	}
	t.Name = f[0]
	if t.Iterations, err = strconv.Atoi(f[2]); err != nil || t.Iterations < 1 || t.Iterations > maxIterations {
		return t, fmt.Errorf("team %s: iterations %q, want 1 to %d", t.Name, f[2], maxIterations)
	}
	if t.Salt, err = base64.RawStdEncoding.DecodeString(f[3]); err != nil || len(t.Salt) < 8 {
		return t, fmt.Errorf("team %s: the salt is not base64 of 8 bytes or more", t.Name)
	}
	if t.Hash, err = base64.RawStdEncoding.DecodeString(f[4]); err != nil || len(t.Hash) != sha256.Size {
		return t, fmt.Errorf("team %s: the hash is not base64 of %d bytes", t.Name, sha256.Size)
	}
	return t, nil
}

func ReadFile(path string) ([]Team, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return Read(path, f)
}

// Put adds a team to a file, which it creates if need be, or changes the team's password. It keeps all other lines.
func Put(path, name, password string) error {
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if _, err := Read(path, bytes.NewReader(text)); err != nil {
		return err
	}
	t, err := New(name, password)
	if err != nil {
		return err
	}
	lines := slices.DeleteFunc(slices.Collect(strings.Lines(string(text))), func(l string) bool {
		return strings.HasPrefix(l, name+":")
	})
	if n := len(lines); n > 0 && !strings.HasSuffix(lines[n-1], "\n") {
		lines[n-1] += "\n"
	}
	return disk.WriteText(path, 0o600, strings.Join(lines, "")+t.String()+"\n")
}

// A Guard checks names and passwords. It is safe for concurrent use.
//
// The slow hash is computed once per team: a correct password is remembered under a fast keyed hash, so that checking
// it takes no time during a game. Other passwords are checked one at a time, in turn by address and team, so that
// guessing neither slows down the teams nor keeps them from their first login.
type Guard struct {
	teams map[string]Team
	decoy Team
	key   [32]byte

	slow queue

	mu   sync.RWMutex
	seen map[string][sha256.Size]byte
}

func NewGuard(list []Team) *Guard {
	g := &Guard{teams: map[string]Team{}, seen: map[string][sha256.Size]byte{}}
	g.decoy = Team{Iterations: 1, Salt: make([]byte, saltLen), Hash: make([]byte, sha256.Size)}
	for _, t := range list {
		g.teams[t.Name] = t
		g.decoy.Iterations = max(g.decoy.Iterations, t.Iterations)
	}
	_, _ = rand.Read(g.key[:])
	return g
}

func (g *Guard) Len() int { return len(g.teams) }

// Check reports whether this is the team's password. For an unknown team it takes as long as
// for a wrong password. from is the address of who asks. The error is that of ctx, or ErrBusy.
func (g *Guard) Check(ctx context.Context, from, name, password string) (bool, error) {
	mac := hmac.New(sha256.New, g.key[:])
	mac.Write([]byte(password))
	fast := [sha256.Size]byte(mac.Sum(nil))
	g.mu.RLock()
	seen, ok := g.seen[name]
	g.mu.RUnlock()
	if ok && subtle.ConstantTimeCompare(seen[:], fast[:]) == 1 {
		return true, nil
	}
	t, known := g.teams[name]
	if !known {
		t = g.decoy
	}
	if err := g.slow.enter(ctx, from, t.Name); err != nil {
		return false, err
	}
	right := subtle.ConstantTimeCompare(t.derive(password), t.Hash) == 1
	g.slow.leave()
	if !right || !known {
		return false, nil
	}
	g.mu.Lock()
	g.seen[name] = fast
	g.mu.Unlock()
	return true, nil
}

var ErrBusy = errors.New("too many passwords are waiting to be checked")

// maxWaiting passwords may wait. One more takes the place of the last one of the address that has most of them.
const maxWaiting = 256

// A queue lets one password be checked at a time. Next is the address that has waited longest
// since its last turn, and of its passwords one for the team that has waited longest. So however
// many guesses come from some addresses and for some teams, others wait for one of each at most.
type queue struct {
	mu      sync.Mutex
	busy    bool
	waiting []*ticket            // in the order of their arrival
	turns   uint64               // how many there have been
	last    map[[2]string]uint64 // the last turn of an address, and of an address and team; 0 is none
}

type ticket struct {
	from, team string
	called     chan error // nil: it is its turn; else it may not wait
}

// enter waits for a password's turn. Unless there is an error, of ctx or ErrBusy, leave must be called.
func (q *queue) enter(ctx context.Context, from, team string) error {
	t := &ticket{from, team, make(chan error, 1)}
	q.mu.Lock()
	q.waiting = append(q.waiting, t)
	if !q.busy {
		q.next()
	} else if len(q.waiting) > maxWaiting {
		q.refuse()
	}
	q.mu.Unlock()
	select {
	case err := <-t.called:
		return err
	case <-ctx.Done():
	}
	q.mu.Lock()
	waited := q.remove(t)
	q.mu.Unlock()
	if !waited && <-t.called == nil {
		q.leave()
	}
	return ctx.Err()
}

func (q *queue) leave() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.next()
}

// next begins the next turn, if any password waits. The caller holds q.mu.
func (q *queue) next() {
	if q.busy = len(q.waiting) > 0; !q.busy || len(q.last) > 4*maxWaiting {
		q.last = nil
	}
	if !q.busy {
		return
	}
	first := slices.MinFunc(q.waiting, func(a, b *ticket) int { return compare(q.last, a, b) })
	q.remove(first)
	if q.turns++; q.last == nil {
		q.last = map[[2]string]uint64{}
	}
	q.last[[2]string{first.from}], q.last[first.key()] = q.turns, q.turns
	first.called <- nil
}

// refuse refuses the last ticket of the address, and of its team, that has most of them. The caller holds q.mu.
func (q *queue) refuse() {
	count := map[[2]string]uint64{}
	last := q.waiting[0]
	for _, t := range q.waiting {
		count[[2]string{t.from}]++
		count[t.key()]++
	}
	for _, t := range q.waiting {
		if compare(count, t, last) >= 0 {
			last = t
		}
	}
	q.remove(last)
	last.called <- ErrBusy
}

// compare compares two tickets by what is known of their addresses, then of their addresses and teams.
func compare(known map[[2]string]uint64, a, b *ticket) int {
	byAddress := cmp.Compare(known[[2]string{a.from}], known[[2]string{b.from}])
	return cmp.Or(byAddress, cmp.Compare(known[a.key()], known[b.key()]))
}

// key is that of an address and a team. The 1 tells it from that of the address.
func (t *ticket) key() [2]string { return [2]string{t.from, "1" + t.team} }

// remove takes a ticket from those that wait, and reports whether it was one. The caller holds q.mu.
func (q *queue) remove(t *ticket) bool {
	k := slices.Index(q.waiting, t)
	if k >= 0 {
		q.waiting = slices.Delete(q.waiting, k, k+1)
	}
	return k >= 0
}
