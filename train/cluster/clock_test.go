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
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"blockyard/env/envtest"
)

// Nothing depends on the clock of a worker, so that it may be hours ahead or behind, and may jump: a worker sends no
// time of day, and no code that a worker runs asks for one. What it measures, it measures with the monotonic clock.
func TestClockOfWorkers(t *testing.T) {
	t.Run("messages", func(t *testing.T) {
		began := time.Now()
		s := newSite(t)
		run := newRun(t, small())
		l := s.learner(t, run, t.TempDir(), limits, 0)
		var sent <-chan []byte
		s.Address, sent = tapped(strings.TrimPrefix(s.Address, "nats://"))
		left := s.work(t, t.Context(), "tapped", nil)
		require.NoError(t, run.Go(t.Context(), nil))
		require.NoError(t, l.Close(true))
		require.NoError(t, <-left)
		all := <-sent
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
			paths := envtest.Must(filepath.Glob(filepath.Join(folder, "*.go")))
			require.NotEmpty(t, paths)
			for _, path := range paths {
				if strings.HasSuffix(path, "_test.go") {
					continue
				}
				require.Empty(t, asksForTheTime(envtest.Must(parser.ParseFile(token.NewFileSet(), path, nil, 0))), path)
			}
		}
		bad := envtest.Must(parser.ParseFile(token.NewFileSet(), "", `package p; var x = time.Now().Add(1).UnixNano()`, 0))
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
	first, last := strconv.FormatInt(from.Unix(), 10), strconv.FormatInt(to.Unix(), 10)
	look := func(number string) {
		n := len(number)
		if (n == 10 || n == 13 || n == 16 || n == 19) && number[:10] >= first && number[:10] <= last {
			found = append(found, number)
		}
	}
	for _, d := range digits.FindAll(text, -1) {
		look(string(d))
	}
	for k := 0; k+8 <= len(text); k++ {
		look(strconv.FormatUint(binary.LittleEndian.Uint64(text[k:]), 10))
		look(strconv.FormatUint(binary.BigEndian.Uint64(text[k:]), 10))
	}
	for _, layout := range []string{"2006-01-02T", "Mon, 02 Jan 2006"} {
		if date := to.UTC().Format(layout); bytes.Contains(text, []byte(date)) {
			found = append(found, date)
		}
	}
	return found
}

// tapped passes one connection on to an address, and returns what was sent there when that has ended.
func tapped(to string) (address string, sent <-chan []byte) {
	l := envtest.Must(net.Listen("tcp", "127.0.0.1:0"))
	there := envtest.Must(net.Dial("tcp", to))
	all := make(chan []byte, 1)
	go func() {
		var b bytes.Buffer
		if from, err := l.Accept(); err == nil {
			go func() { _, _ = io.Copy(from, there) }()
			_, _ = io.Copy(there, io.TeeReader(from, &b))
		}
		_, _ = there.Close(), l.Close()
		all <- b.Bytes()
	}()
	return l.Addr().String(), all
}
