package cluster

import (
	"bytes"
	"encoding/binary"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"net"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Nothing depends on the clock of a worker, so that it may be hours ahead or behind, and may jump: a worker sends no
// time of day, and no code that a worker runs asks for one. What it measures, it measures with the monotonic clock.
func TestClockOfWorkers(t *testing.T) {
	t.Run("messages", func(t *testing.T) {
		began := time.Now()
		s := newSite(t)
		run := newRun(t, small())
		l := s.learner(t, run, t.TempDir())
		sent := newTap(t, strings.TrimPrefix(s.Address, "nats://"))
		s.Address = "nats://" + sent.Addr().String()
		left := s.work(t, t.Context(), "tapped")
		require.NoError(t, run.Go(t.Context(), nil))
		require.NoError(t, l.Close(true))
		require.NoError(t, <-left)
		all := sent.text()
		require.Contains(t, string(all), `"name":"tapped"`, "signs of life")
		require.Contains(t, string(all), "Blockyard-Result", "results")
		require.Contains(t, string(all), "$JS.ACK.", "acknowledgements")
		now := time.Now()
		require.Empty(t, timesOfDay(all, began, now))

		// The test can fail.
		for name, text := range map[string]string{
			"seconds":      strconv.FormatInt(now.Unix(), 10),
			"microseconds": `{"at":` + strconv.FormatInt(now.UnixMicro(), 10) + "}",
			"RFC 3339":     now.UTC().Format(time.RFC3339Nano), "RFC 1123": now.UTC().Format(time.RFC1123),
			"binary": string(binary.LittleEndian.AppendUint64(nil, uint64(now.UnixNano()))),
		} {
			require.Len(t, timesOfDay(append(slices.Clone(all), text...), began, now), 1, name)
		}
	})
	t.Run("code", func(t *testing.T) {
		for _, folder := range []string{".", "../../agents/fleet/broker", "../../agents/fleet", "../../agents/fleet/matches"} {
			paths, err := filepath.Glob(filepath.Join(folder, "*.go"))
			require.NoError(t, err)
			require.NotEmpty(t, paths)
			for _, path := range paths {
				if strings.HasSuffix(path, "_test.go") {
					continue
				}
				file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
				require.NoError(t, err)
				require.Empty(t, asksForTheTime(file), path)
			}
		}
		bad, err := parser.ParseFile(token.NewFileSet(), "", `package p; var x = time.Now().Add(1).UnixNano()`, 0)
		require.NoError(t, err)
		require.Equal(t, []string{"UnixNano"}, asksForTheTime(bad))
	})
}

// wallClock are the functions and methods by which a time of day is read, written or stripped of the monotonic clock,
// and the times that the broker tells. Created is one of these, which Sweep compares with another one of the broker's.
var wallClock = regexp.MustCompile(`^(Unix(Milli|Micro|Nano)?|Format|AppendFormat|Round|Truncate|UTC|Local|In|Date|` +
	`Clock|Year|Month|Day|Hour|Minute|Weekday|YearDay|Parse|ParseInLocation|AppendText|AppendBinary|Timestamp|ModTime)$`)

// asksForTheTime returns the names in a file by which a time of day is used, except the units of package time.
func asksForTheTime(file *ast.File) (found []string) {
	ast.Inspect(file, func(n ast.Node) bool {
		s, ok := n.(*ast.SelectorExpr)
		if !ok || !wallClock.MatchString(s.Sel.Name) {
			return true
		}
		of, _ := s.X.(*ast.Ident)
		inTime := of != nil && of.Name == "time"
		fine := map[string]bool{
			"Hour": inTime, "Minute": inTime, // units
			"Parse": !inTime, // specs of agents
			"Round": true,    // of a time.Duration in the table of workers
		}
		if !fine[s.Sel.Name] {
			found = append(found, s.Sel.Name)
		}
		return true
	})
	return found
}

var (
	echo   = regexp.MustCompile(`\$JS\.ACK\.\S+`) // the broker wrote the time in it
	digits = regexp.MustCompile(`\d{10,19}`)
)

// timesOfDay returns what in a text may be a time of day between two: as a number of seconds or a part of these since
// 1970, in digits or in eight bytes, or as a date. Few seconds lie between, which random bytes do not hit.
func timesOfDay(text []byte, from, to time.Time) (found []string) {
	text = echo.ReplaceAll(text, nil)
	from = from.Add(-time.Second) // a number of whole seconds is rounded
	within := func(at time.Time) bool { return at.After(from) && !at.After(to) }
	units := []func(int64) time.Time{
		func(n int64) time.Time { return time.Unix(n, 0) }, time.UnixMilli, time.UnixMicro,
		func(n int64) time.Time { return time.Unix(0, n) },
	}
	for _, d := range digits.FindAll(text, -1) {
		n, err := strconv.ParseInt(string(d), 10, 64)
		for _, unit := range units {
			if err == nil && within(unit(n)) {
				found = append(found, string(d))
				break
			}
		}
	}
	for _, layout := range []string{"2006-01-02T", "Mon, 02 Jan 2006"} {
		if date := to.UTC().Format(layout); bytes.Contains(text, []byte(date)) {
			found = append(found, date)
		}
	}
	for k := 0; k+8 <= len(text); k++ {
		for _, n := range []uint64{binary.LittleEndian.Uint64(text[k:]), binary.BigEndian.Uint64(text[k:])} {
			for _, unit := range units[1:] {
				if n < 1<<62 && within(unit(int64(n))) {
					found = append(found, strconv.FormatUint(n, 10))
				}
			}
		}
	}
	return found
}

// A tap passes connections on to an address, and keeps what goes there.
type tap struct {
	net.Listener
	mu   sync.Mutex
	sent bytes.Buffer
}

func newTap(t *testing.T, to string) *tap {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	p := &tap{Listener: l}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			from, err := l.Accept()
			if err != nil {
				return
			}
			there, err := net.Dial("tcp", to)
			if err != nil {
				_ = from.Close()
				return
			}
			go func() { _, _ = io.Copy(from, there); _ = from.Close() }()
			go func() { _, _ = io.Copy(there, io.TeeReader(from, p)); _ = there.Close() }()
		}
	}()
	return p
}

// Write keeps what was sent.
func (p *tap) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.sent.Write(b)
}

func (p *tap) text() []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	return bytes.Clone(p.sent.Bytes())
}
