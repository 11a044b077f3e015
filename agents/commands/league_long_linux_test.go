package commands

import (
	"bytes"
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"blockyard/agents/match"
	"blockyard/agents/match/tournament"
)

const ownMounts = "BLOCKYARD_TEST_OWN_MOUNTS" // set in a process that may mount file systems

// half is a bot that crashes in the fifth round if it has the second seat, and so passes its test game in the first.
const half = "import sys\nseat = ''\nround = 0\nfor line in sys.stdin:\n    if 'your_bot' in line:\n        seat = line.split()[-1]\n" +
	"    if line.startswith('action'):\n        round += 1\n        if round == 5 and seat == 'player2':\n            sys.exit('boom')\n" +
	"        print('drop', flush=True)\n"

// forty are the files of forty entrants: droppers in Python and C that move each piece first, one that crashes in the
// second seat, one that never answers and one that does not compile.
func forty() map[string]string {
	all := map[string]string{"half.py": half, "silent.py": entries["silent.py"], "broken.cpp": entries["broken.cpp"]}
	for k := range 37 {
		source := []string{"dropper.py", "dropper.c"}[k%2]
		all[fmt.Sprint("mover", k, filepath.Ext(source))] = moves(entries[source], k/2%8)
	}
	return all
}

// TestLeagueOfForty: a league of forty entrants plays for MINUTES (2), in which its process is killed five times, its disk
// is full once, one entrant is replaced three times and one is removed. Every game is played once and has a record that
// replays, and only one that crashes has a fault. It runs if BLOCKYARD_LONG is set. The disk is a file system in memory
// that only a child of this process sees.
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
	minutes, err := strconv.ParseFloat(cmp.Or(os.Getenv("MINUTES"), "2"), 64)
	require.NoError(t, err)
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
		cmd = exec.Command(own(), args...)
		cmd.Stderr = errs
		require.NoError(t, cmd.Start())
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
			name := "mover0"
			if versions++; versions > 1 {
				name += fmt.Sprint(" v", versions)
			}
			eventually(t, func() bool { return hasPlayed(t, dir, name, 0) })
			writeFiles(t, subs, map[string]string{"mover0.py": moves(entries["dropper.py"], 7-versions)})
		},
		"remove": func() { require.NoError(t, os.Remove(filepath.Join(subs, "mover1.c"))) },
	}
	order := []string{"kill", "kill", "kill", "kill", "kill", "fill", "replace", "replace", "replace", "remove"}
	rng := rand.New(rand.NewPCG(uint64(time.Now().Unix()), 55))
	rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	share := time.Duration(minutes * float64(time.Minute) / float64(len(order)+1))
	start()
	more := func() (games int) { // it plays after every event
		before := lines(dir)
		time.Sleep(time.Duration(float64(share) * (0.5 + rng.Float64())))
		eventually(t, func() bool { games = lines(dir); return games > before })
		return games
	}
	for _, event := range order {
		t.Logf("after %d games: %s", more(), event)
		events[event]()
	}
	more()
	entrant := func(name string) *tournament.Entrant { return entrantOf(t, dir, name) }
	eventually(t, func() bool {
		return entrant("mover1").Left && entrant("mover0 v4").Name != "" && len(entrantsOf(t, dir)) == 43 &&
			entrant("silent").Refused != "" && entrant("broken").Refused != ""
	})
	require.NoError(t, cmd.Process.Signal(os.Interrupt))
	require.NoError(t, cmd.Wait(), errs.String())

	// The same command prints how the league stands.
	played, names := journalOf(t, dir)
	r := reported(t, append(args, "--games", strconv.Itoa(len(played)))...)
	t.Logf("%d games, %d count; %d repeat, %d void; stalled %d, busy %d", len(played), r.Games, r.Repeated, len(r.Void), r.Again, r.Busy)
	require.Equal(t, len(played), r.Games+r.Repeated+len(r.Void))
	require.Len(t, r.Refused, 2)
	require.Len(t, names, 43)
	requirePairs(t, played)
	void := 0
	for k, g := range played {
		for seat, e := range g.Seats {
			require.True(t, g.Fault(seat) == "" || names[e] == "half", "game %d: %s: %s", k+1, names[e], g.Fault(seat))
		}
		if g.Stalled >= match.MaxAttempts {
			void++
		} else {
			checked(t, filepath.Join(dir, tournament.RecordFile(k)))
		}
	}
	require.Len(t, r.Void, void, "only games that the machine was too busy for do not count")
}
