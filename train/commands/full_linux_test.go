package commands

import (
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"blockyard/agents/fleet"
	"blockyard/agents/fleet/broker"
	"blockyard/env/envtest"
	"blockyard/train/games"

	"github.com/stretchr/testify/require"
)

const ownMounts = "BLOCKYARD_TEST_OWN_MOUNTS" // set in a process that may mount file systems

// A disk of the broker that becomes full in mid-run ends the run with an error that says where and what to do. After
// room is made, --resume --cluster ends with the weights of an undisturbed run. The disk is a file system in memory
// that only a child of this process sees, so that this needs no rights.
func TestFullDisk(t *testing.T) {
	if testing.Short() {
		t.Skip("takes half a minute")
	}
	if os.Getenv(ownMounts) == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^TestFullDisk$", "-test.v")
		cmd.Env = append(os.Environ(), ownMounts+"=1")
		own := func(id int) []syscall.SysProcIDMap { return []syscall.SysProcIDMap{{HostID: id, Size: 1}} }
		cmd.SysProcAttr = &syscall.SysProcAttr{
			Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
			UidMappings: own(os.Getuid()), GidMappings: own(os.Getgid()),
		}
		out, err := cmd.CombinedOutput()
		if cmd.ProcessState == nil || strings.Contains(string(out), "--- SKIP: TestFullDisk") {
			t.Skipf("no namespace for mounts: %v %s", err, out)
		}
		require.NoError(t, err, string(out))
		t.Logf("%s", out)
		return
	}
	dir := t.TempDir()
	d := &tmpfs{dir: filepath.Join(dir, "disk")}
	require.NoError(t, os.Mkdir(d.dir, 0o700))
	if err := syscall.Mount("tmpfs", d.dir, "tmpfs", 0, "size=2g"); err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(d.dir, syscall.MNT_DETACH) })
	settings := []string{"--backup=0", "--games=8", "--rounds=64", "--batch=32", "--hidden=6", "--gates=2", "--gate-pairs=2",
		"--gate-ply=1", "--iterations=40"}
	args := func(name string, more ...string) []string { return runIn(filepath.Join(dir, name), settings, more...) }
	require.NoError(t, command(t, args("alone")...))

	t.Run("of the learner", func(t *testing.T) {
		cluster := []string{"--cluster", "--listen", freeAddress()}
		name, err := d.fillDuring(t, "own", func(name string) []string {
			folder := filepath.Join(d.dir, name)
			require.NoError(t, os.Mkdir(folder, 0o700))
			require.NoError(t, os.Mkdir(filepath.Join(dir, name), 0o700))
			require.NoError(t, os.Symlink(folder, filepath.Join(dir, name, "broker")))
			return args(name, cluster...)
		})
		place := filepath.Join(dir, name, "broker")
		require.ErrorContains(t, err, "the broker cannot store messages in "+place+": free space")
		require.ErrorContains(t, err, "no space left on device")
		require.NotContains(t, err.Error(), "deadline")
		d.resume(t, dir, name, cluster)
	})
	t.Run("of another process", func(t *testing.T) {
		f, folder := broker.Flags{Listen: freeAddress()}, filepath.Join(d.dir, "other")
		b := envtest.Must(f.Open(folder, "test", slog.New(slog.DiscardHandler)))
		cluster := []string{"--cluster", b.Address, "--creds", filepath.Join(folder, "learner.nk")}
		name, err := d.fillDuring(t, "other", func(name string) []string { return args(name, cluster...) })
		require.ErrorContains(t, err, "if its disk is full, see its log, free space and start it again")
		require.NoError(t, b.Close(false))
		d.resize(t, 2<<30)
		b = envtest.Must(f.Open(folder, "test", slog.New(slog.DiscardHandler)))
		d.resume(t, dir, name, cluster)
		require.NoError(t, b.Close(true))
	})
}

// A tmpfs is a file system whose size can be changed.
type tmpfs struct{ dir string }

func (d *tmpfs) resize(t *testing.T, size int64) {
	require.NoError(t, syscall.Mount("tmpfs", d.dir, "tmpfs", syscall.MS_REMOUNT, fmt.Sprintf("size=%d", size)))
}

// fillDuring starts a learner and a worker, fills the disk when the run is under way, and returns the run's name and its
// error. If the machine holds up this test until the whole run is over, it begins again with a run of another name.
func (d *tmpfs) fillDuring(t *testing.T, name string, args func(name string) []string) (string, error) {
	l := beginLearner(t, t.Context(), args(name)...)
	nc := l.connect(t)
	startWorker(t, name, l.join) // it lives on until the test ends
	require.Eventually(t, func() bool {
		all, _, err := fleet.Ask(t.Context(), nc)
		return len(l.ended) > 0 || err == nil && len(all) == 1 && all[0].Iteration > 3
	}, 5*time.Minute, 10*time.Millisecond)
	var s syscall.Statfs_t
	require.NoError(t, syscall.Statfs(d.dir, &s))
	d.resize(t, int64(s.Blocks-s.Bfree)*s.Bsize)
	err := <-l.ended
	t.Log(l.rest())
	if err == nil {
		d.resize(t, 2<<30)
		return d.fillDuring(t, name+"-again", args)
	}
	return name, err
}

// resume makes room and continues the run of a folder. Its games and weights are those of the run alone.
func (d *tmpfs) resume(t *testing.T, dir, name string, cluster []string) {
	d.resize(t, 2<<30)
	l := beginLearner(t, t.Context(), runIn(filepath.Join(dir, name), cluster, "--resume")...)
	require.NoError(t, <-l.ended)
	require.Equal(t, counted(t, filepath.Join(dir, "alone")), counted(t, filepath.Join(dir, name)))
	require.Equal(t, bestSum(filepath.Join(dir, "alone")), bestSum(filepath.Join(dir, name)))
}

// counted returns the games, the choices and the evaluations of the run in a folder.
func counted(t *testing.T, folder string) [3]uint64 {
	n := resumed(t, games.BlockBattle, folder).Counts
	return [3]uint64{uint64(n.Games), uint64(n.Moves), n.Visited}
}

// A file of 250 KB with rows for 2.5 GiB, more than fit takes by default, is refused with the place, the limit and what to
// do in a process that may have 4 GB of memory.
func TestFitBomb(t *testing.T) {
	path := manyGames(t, 80_000)
	cmd := exec.Command("sh", "-c", `ulimit -v 4000000; exec "$0" fit "$1"`, os.Args[0], path)
	cmd.Env = append(os.Environ(), asWorker+"=1")
	out, err := cmd.CombinedOutput()
	require.Error(t, err)
	require.Regexp(t, "^train: "+path+`:\d+: too many rows: the games up to here have 29992\d\d choices, each a row of 716 bytes; `+
		"want at most 2999278, as many as fit into --max-mb 2048: raise it if there is memory\n$", string(out))
}

// freeAddress returns an address on which nothing listens. Its port is below those that a system gives to connections, of
// which other tests open many: one of them could have the port before the test listens there.
func freeAddress() string {
	for {
		if l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", 10_000+rand.IntN(20_000))); err == nil {
			defer l.Close()
			return l.Addr().String()
		}
	}
}
