package contest

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"blockyard/agents/contest/compile/compiletest"
)

// escapes are what a bot may do so that something of it remains: a child in a session of its own, a daemon that was forked
// twice, a child in the group of its parent, and one without an output. NAP is the number of seconds for which each sleeps.
const escapes = `setsid sleep NAP &
(setsid sh -c 'sleep NAP & exit' &) &
python3 -c "
import os
try: os.setpgid(0, os.getpgid(os.getppid()))
except OSError: pass
os.execvp('sleep', ['sleep', 'NAP'])" &
setsid sleep NAP >/dev/null 2>&1 </dev/null &
read x; echo $x; read x`

// withoutNamespaces runs a test as where namespaces are not permitted.
func withoutNamespaces(t *testing.T) {
	permitted := namespace
	namespace = func() uintptr { return 0 }
	t.Cleanup(func() { namespace = permitted })
}

// TestNothingOutlivesItsMatch: with and without namespaces.
func TestNothingOutlivesItsMatch(t *testing.T) {
	for _, mode := range []string{"namespace", "marks"} {
		t.Run(mode, func(t *testing.T) {
			if mode == "marks" {
				withoutNamespaces(t)
			}
			nap := fmt.Sprintf("601.%d", time.Now().UnixNano())
			p, _ := start(t, strings.ReplaceAll(escapes, "NAP", nap))
			require.Equal(t, "one", answer(t, p, "one"))
			require.Eventually(t, func() bool { return len(running(nap)) == 4 }, hang, 5*time.Millisecond)
			begun := time.Now()
			require.NoError(t, p.Close())
			require.Less(t, time.Since(begun), hang)
			require.Empty(t, running(nap))
		})
	}
}

// TestNothingOutlivesItsHost kills a host with SIGKILL: with a namespace, its bot and all that the bot has started end
// too; without one, the bot does.
func TestNothingOutlivesItsHost(t *testing.T) {
	if mode := os.Getenv("CONTEST_TEST_HOST"); mode != "" {
		if mode == "marks" {
			withoutNamespaces(t)
		}
		nap := os.Getenv("CONTEST_TEST_NAP")
		p, _ := start(t, "setsid sleep 1"+nap+" & sleep "+nap+" & read x; echo $x; exec sleep "+nap)
		answer(t, p, "one")
		fmt.Println("ready")
		select {}
	}
	for _, mode := range []string{"namespace", "marks"} {
		nap := fmt.Sprintf("602.%d", time.Now().UnixNano())
		begun := func() bool { return len(running(nap)) == 2 && len(running("1"+nap)) == 1 }
		compiletest.KillHost(t, begun, "CONTEST_TEST_HOST="+mode, "CONTEST_TEST_NAP="+nap)
		if mode == "namespace" && namespace() != 0 {
			require.Eventually(t, func() bool { return len(running(nap))+len(running("1"+nap)) == 0 }, hang, 10*time.Millisecond)
			continue
		}
		require.Eventually(t, func() bool { return len(running(nap)) <= 1 }, hang, 10*time.Millisecond)
		for _, pid := range append(running(nap), running("1"+nap)...) {
			require.NoError(t, exec.Command("kill", "-9", pid).Run()) // SECURITY.md says that these remain
		}
	}
}
