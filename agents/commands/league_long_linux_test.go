package commands

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"blockyard/agents/match"
	"blockyard/agents/match/tournament"
	"blockyard/env/blockbattle"
)

const ownMounts = "BLOCKYARD_TEST_OWN_MOUNTS" // set in a process that may mount file systems

// half is a bot that crashes in the fifth round if it has the second seat, and so passes its test game in the first.
const half = "import sys\nseat = ''\nround = 0\nfor line in sys.stdin:\n    if 'your_bot' in line:\n        seat = line.split()[-1]\n" +
	"    if line.startswith('action'):\n        round += 1\n        if round == 5 and seat == 'player2':\n            sys.exit('boom')\n" +
	"        print('drop', flush=True)\n"

// forty are the files of forty entrants in eight languages: droppers that move each piece first, two that crash in the
// second seat, one that never answers and one that does not compile.
func forty() map[string]string {
	cpp := strings.NewReplacer(`#include "words.hpp"`, "#include <string>", "WORD", `"drop"`).Replace(dropCPP)
	all := map[string]string{"half.py": half, "silent.py": entries["silent.py"], "broken.cpp": entries["broken.cpp"],
		"half.pl": "$| = 1;\nwhile (<STDIN>) { $two = 1 if /your_bot player2/; if (/^action/) { die if ++$n == 5 && $two; print \"drop\\n\"; } }\n"}
	for language, l := range map[string]struct {
		path, text string
		entrants   int
	}{
		"python": {"%s.py", entries["dropper.py"], 8}, "js": {"%s.js", dropJS, 5}, "perl": {"%s.pl", dropPerl, 5},
		"c": {"%s.c", entries["dropper.c"], 5}, "cpp": {"%s.cpp", cpp, 4}, "go": {"%s.go", dropGo, 3},
		"rust": {"%s.rs", dropRust, 3}, "java": {"%s/src/bot/BotStarter.java", dropJava, 3},
	} {
		for k := range l.entrants {
			all[fmt.Sprintf(l.path, fmt.Sprint(language, k))] = moves(l.text, k)
		}
	}
	return all
}

// moves is a dropper that moves each piece by so many columns before it drops it.
func moves(dropper string, columns int) string {
	return strings.Replace(dropper, "drop", strings.Repeat("left,", columns)+"drop", 1)
}

// TestLeagueOfForty: a league of forty entrants in eight languages plays for MINUTES (2), in which its process is killed five
// times, its disk is full once, one entrant is replaced three times and two are removed. Every game is played once, the
// ratings are those of a fresh computation from the records, and only those that crash have a fault. It runs if
// BLOCKYARD_LONG is set. The disk is a file system in memory that only a child of this process sees.
func TestLeagueOfForty(t *testing.T) {
	if os.Getenv("BLOCKYARD_LONG") == "" {
		t.Skip("long: set BLOCKYARD_LONG")
	}
	if os.Getenv(ownMounts) == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^TestLeagueOfForty$", "-test.v", "-test.timeout=0")
		cmd.Env = append(os.Environ(), ownMounts+"=1")
		cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
		if id := os.Getuid(); id != 0 { // a cage behaves in another way for root, so that nobody becomes it
			cmd.SysProcAttr.Cloneflags, cmd.SysProcAttr.AmbientCaps = syscall.CLONE_NEWUSER, []uintptr{unix.CAP_SYS_ADMIN}
			cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: id, HostID: id, Size: 1}}
			cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: 1}}
		}
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		require.NoError(t, cmd.Run())
		return
	}
	minutes, err := strconv.ParseFloat(os.Getenv("MINUTES"), 64)
	if err != nil {
		minutes = 2
	}
	dir := t.TempDir()
	resize := func(flags uintptr, size int64) {
		require.NoError(t, syscall.Mount("tmpfs", dir, "tmpfs", flags, fmt.Sprintf("size=%d", size)))
	}
	resize(0, 8<<30)
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	subs := filepath.Join(dir, "submissions")
	require.Len(t, forty(), 40)
	writeFiles(t, subs, forty())

	args := []string{"league", "blockbattle", "--dir", dir, "--json"}
	var cmd *exec.Cmd
	var errs *bytes.Buffer
	start := func() {
		errs = new(bytes.Buffer)
		cmd = exec.Command(built(t), args...)
		cmd.Stderr = errs
		require.NoError(t, cmd.Start())
	}
	games := func() int {
		text, _ := os.ReadFile(filepath.Join(dir, "journal.jsonl"))
		return bytes.Count(text, []byte("\n"))
	}
	versions := 0
	events := map[string]func(){
		"kill": func() {
			require.NoError(t, cmd.Process.Kill())
			_ = cmd.Wait()
			start()
		},
		"fill": func() {
			var s syscall.Statfs_t
			require.NoError(t, syscall.Statfs(dir, &s))
			resize(syscall.MS_REMOUNT, int64(s.Blocks-s.Bfree)*s.Bsize)
			require.Error(t, cmd.Wait(), "it notices that the disk is full")
			require.Contains(t, errs.String(), "no space left on device")
			resize(syscall.MS_REMOUNT, 8<<30)
			start()
		},
		"replace": func() { // a version that has played, else the next one takes its place
			name := "python7"
			if versions++; versions > 1 {
				name += fmt.Sprint(" v", versions)
			}
			require.Eventually(t, func() bool {
				played, names := journalOf(t, dir)
				return slices.ContainsFunc(played, func(g match.Played) bool {
					return slices.ContainsFunc(g.Seats, func(e int) bool { return names[e] == name })
				})
			}, 20*time.Minute, 100*time.Millisecond, name)
			writeFiles(t, subs, map[string]string{"python7.py": moves(entries["dropper.py"], 7-versions)})
		},
		"remove python": func() { require.NoError(t, os.Remove(filepath.Join(subs, "python1.py"))) },
		"remove java":   func() { require.NoError(t, os.RemoveAll(filepath.Join(subs, "java1"))) },
	}
	order := []string{"kill", "kill", "kill", "kill", "kill", "fill", "replace", "replace", "replace", "remove python", "remove java"}
	rng := rand.New(rand.NewPCG(uint64(time.Now().Unix()), 55))
	rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	share := time.Duration(minutes * float64(time.Minute) / float64(len(order)+1))
	start()
	more := func() { // it plays after every event
		before := games()
		time.Sleep(time.Duration(float64(share) * (0.5 + rng.Float64())))
		require.Eventually(t, func() bool { return games() > before }, 10*time.Minute, 10*time.Millisecond)
	}
	for _, event := range order {
		more()
		t.Logf("after %d games: %s", games(), event)
		events[event]()
	}
	more()
	entrant := func(name string) *tournament.Entrant { return entrantOf(t, dir, name) }
	require.Eventually(t, func() bool {
		return entrant("python1").Left && entrant("java1").Left && entrant("python7 v4").Name != "" && len(entrantsOf(t, dir)) == 43 &&
			entrant("silent").Refused != "" && entrant("broken").Refused != ""
	}, 20*time.Minute, 100*time.Millisecond)
	require.NoError(t, cmd.Process.Signal(os.Interrupt))
	require.NoError(t, cmd.Wait(), errs.String())

	// The same command prints how the league stands.
	played, names := journalOf(t, dir)
	var out bytes.Buffer
	cmd = exec.Command(built(t), append(args, "--games", strconv.Itoa(len(played)))...)
	cmd.Stdout = &out
	require.NoError(t, cmd.Run())
	r := decoded[tournament.Report](t, out.String())
	t.Logf("%d games, %d count; %d repeat, %d void; stalled %d, busy %d", len(played), r.Games, r.Repeated, len(r.Void), r.Again, r.Busy)
	require.Equal(t, len(played), r.Games+r.Repeated+len(r.Void))
	require.Len(t, r.Refused, 2)
	require.Len(t, names, 43)

	place := map[string]int{}
	for k, s := range r.Players {
		place[s.Name] = k
	}
	seen, voided, count := map[match.Print]bool{}, len(r.Void), 0
	results := match.NewResults(len(r.Players))
	seeds := map[string][]match.Played{}
	for k, g := range played {
		require.Equal(t, k, g.Number)
		seeds[g.Seed] = append(seeds[g.Seed], g)
		for seat, e := range g.Seats {
			require.True(t, g.Fault(seat) == "" || strings.HasPrefix(names[e], "half"), "game %d: %s: %s", k+1, names[e], g.Fault(seat))
		}
		if g.Stalled >= match.MaxAttempts {
			voided--
			continue
		}
		rec := checked(t, filepath.Join(dir, tournament.RecordFile(k)))[0]
		if print := match.Fingerprint(blockbattle.Game, rec); seen[print] {
			continue
		} else {
			seen[print] = true
		}
		halves := 1 + int(rec.Results[0]-rec.Results[1])/2
		if rec.Results[0] == rec.Results[1] { // not by the rules: by a fault, or a draw
			halves = 1 + g.Ranks[1] - g.Ranks[0]
		}
		results.Add(place[names[g.Seats[0]]], place[names[g.Seats[1]]], halves)
		count++
	}
	require.Zero(t, voided, "only games that the machine was too busy for do not count: %v", r.Void)
	require.Equal(t, r.Games, count)
	for k, e := range results.Elo() {
		require.InDelta(t, r.Players[k].Elo.Value, e.Value, 0.01, r.Players[k].Name)
	}
	for seed, pair := range seeds {
		require.True(t, len(pair) == 1 || len(pair) == 2 && slices.Equal(pair[0].Seats, []int{pair[1].Seats[1], pair[1].Seats[0]}), seed)
	}
	require.FileExists(t, filepath.Join(dir, "index.html"))
	if shots := os.Getenv("BLOCKYARD_SHOTS"); shots != "" {
		require.NoError(t, os.CopyFS(filepath.Join(shots, "forty"), os.DirFS(dir)))
	}
}
