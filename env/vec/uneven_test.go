package vec_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"blockyard/env"
	"blockyard/env/envtest"
	"blockyard/env/envtest/toy"
	"blockyard/env/vec"
)

// An uneven agent answers after 0.5 ms, and every eighth time on average after 16 ms, like a search that is
// sometimes deep. It sleeps, so that the comparison does not depend on what else the machine does.
func newUneven(seed uint64) (env.Agent, error) {
	a := die{env.Rand{Word: seed}}
	return acting(func(ctx context.Context, s env.State, seat int) (env.Action, error) {
		pause := 500 * time.Microsecond
		if env.Mix(a.rng.Word)%8 == 0 {
			pause = 16 * time.Millisecond
		}
		time.Sleep(pause)
		return a.Act(ctx, s, seat)
	}), nil
}

// BenchmarkUneven steps 16 environments with uneven agents on 16 goroutines: all together with Step, and through a
// Stream that receives 4 at a time. An operation is 16 steps of single environments.
func BenchmarkUneven(b *testing.B) {
	c := vec.Config{Envs: 16, Workers: 16, Agents: []vec.AgentFactory{nil, newUneven}, Illegal: vec.Random}
	actions := randomly(c.Envs)
	b.Run("step", func(b *testing.B) {
		e, out, _ := start(b, toy.Pick, c)
		for b.Loop() {
			require.NoError(b, e.Step(actions, out))
		}
	})
	b.Run("stream", func(b *testing.B) {
		e, out, _ := start(b, toy.Pick, c)
		stream, some := streamOf(e, out), numbers(c.Envs)
		require.NoError(b, stream.Send(some, actions))
		for b.Loop() {
			for range 4 {
				<-stream.Await(4)
				some = envtest.Must(stream.Recv(some[:0], 4))
				require.NoError(b, stream.Send(some, actions[:len(some)]))
			}
		}
	})
}
