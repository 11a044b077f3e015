// Package teams stores the teams of a contest in a file of names and hashed passwords, and checks passwords.
//
// A line is NAME:pbkdf2-sha256:ITERATIONS:SALT:HASH, with salt and hash in base64. Empty lines
// and lines that begin with # are ignored.
package teams

import (
	"bufio"
	"bytes"
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
	"blockyard/datasets/program/web"
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

	slow web.Turns

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
// for a wrong password. from is the address of who asks. The error is that of ctx, or web.ErrBusy.
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
	if err := g.slow.Enter(ctx, from, t.Name); err != nil {
		return false, err
	}
	right := subtle.ConstantTimeCompare(t.derive(password), t.Hash) == 1
	g.slow.Leave()
	if !right || !known {
		return false, nil
	}
	g.mu.Lock()
	g.seen[name] = fast
	g.mu.Unlock()
	return true, nil
}
