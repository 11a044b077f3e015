package cluster

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"blockyard/agents/fleet"
	"blockyard/agents/fleet/broker"
	"blockyard/agents/mlp"
	"blockyard/train/selfplay"
)

// largeResult is the size in bytes from which a result travels as an object.
const largeResult = broker.LargestMessage / 2

// errStale says that a task is of the past: its net is gone.
var errStale = errors.New("the net of the task is gone")

// play plays tasks until the channel is closed.
func (w *worker) play(ctx context.Context, tasks <-chan jetstream.Msg, stop context.CancelCauseFunc) {
	var player *selfplay.Player
	for msg := range tasks {
		if ctx.Err() != nil {
			_ = msg.Nak() // another worker gets it now instead of after AckWait
			continue
		}
		if player == nil {
			var err error
			if player, err = selfplay.NewPlayer(w.game, w.settings); err != nil {
				stop(fmt.Errorf("%w: %w", ErrRefused, err))
				return
			}
		}
		end := w.alive(msg)
		id, err := w.one(ctx, player, msg)
		end()
		switch {
		case err == nil:
			_ = msg.Ack() // if it is lost, the task is played once more and its result dropped
		case errors.Is(err, errStale):
			_ = msg.Term()
		case errors.Is(err, ErrRefused):
			_ = msg.Nak()
			stop(err)
		case ctx.Err() != nil:
			_ = msg.Nak()
		default:
			player = nil
			w.counts.Failed.Add(1)
			w.options.Log.Warn("a task failed", "task", id, "error", err)
			fleet.SayTrouble(w.nc, w.spec.Run, fleet.Trouble{Task: id, Worker: w.options.Name, Error: err.Error()})
			_ = msg.NakWithDelay(200 * time.Millisecond)
		}
	}
}

// alive tells the broker that the task is being played, until end is called.
func (w *worker) alive(msg jetstream.Msg) (end func()) {
	ticker, over := time.NewTicker(w.spec.Limits.AckWait/3), make(chan struct{})
	go func() {
		for {
			select {
			case <-over:
				return
			case <-ticker.C:
				_ = msg.InProgress() // if it is lost, the next one may not be
			}
		}
	}()
	return func() {
		ticker.Stop()
		close(over)
	}
}

// one plays a task and publishes its result.
func (w *worker) one(ctx context.Context, p *selfplay.Player, msg jetstream.Msg) (id string, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v\n%s", r, debug.Stack())
		}
	}()
	m, err := parseTask(msg.Data())
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrRefused, err)
	}
	id = m.id().String()
	if err := w.check(m); err != nil {
		return id, err
	}
	net, err := w.net(ctx, m.Net)
	if err != nil {
		return id, err
	}
	began := time.Now()
	var games, moves int64
	files := make([][]byte, len(m.Starts))
	for k := range files {
		file, result, err := p.Play(ctx, m.task(k), net)
		if err != nil {
			return id, err
		}
		files[k] = file
		games, moves = games+int64(result.Ended), moves+int64(result.Moves)
	}
	busy := time.Since(began)
	if err := w.publish(ctx, m, packResults(files), busy); err != nil {
		return id, err
	}
	w.counts.Tasks.Add(1)
	w.counts.Games.Add(games)
	w.counts.Moves.Add(moves)
	w.counts.Busy.Add(busy.Microseconds())
	if meta, err := msg.Metadata(); err == nil {
		w.counts.Queued.Store(int64(meta.NumPending))
	}
	return id, nil
}

// check plays the self-test for the task's kind of rollout, once per kind.
func (w *worker) check(m *taskMessage) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	kind := kindOf(m.Rollout)
	sum, ok := w.checks[kind]
	if !ok {
		var err error
		if sum, err = selfplay.SelfTest(w.game, w.settings, m.Rollout); err != nil {
			return fmt.Errorf("self-test: %w", err)
		}
		w.checks[kind] = sum
	}
	if sum != m.Check {
		return fmt.Errorf("%w: its self-test of %s play gives %.12s, the learner's gives %.12s. Evaluation, sampling or "+
			"moves differ: run the same program on a processor of the same architecture and features",
			ErrRefused, kind.Kind, sum, m.Check)
	}
	return nil
}

// mostNets are kept at a time.
const mostNets = 2

// net returns a net by its SHA-256.
func (w *worker) net(ctx context.Context, id string) (*mlp.Net, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if n := w.nets[id]; n != nil {
		return n, nil
	}
	file, err := w.objects.Get(ctx, id)
	if errors.Is(err, jetstream.ErrObjectNotFound) {
		return nil, errStale
	} else if err != nil {
		return nil, err
	}
	n, err := selfplay.ParseNet(file)
	if err != nil {
		return nil, fmt.Errorf("%w: net %.12s: %w", ErrRefused, id, err)
	}
	if len(w.nets) >= mostNets {
		clear(w.nets)
	}
	w.nets[id] = n
	return n, nil
}

// publish stores the results of a task. It tries again while the broker cannot be reached.
func (w *worker) publish(ctx context.Context, m *taskMessage, file []byte, busy time.Duration) error {
	r := resultMessage{id: m.id(), worker: w.options.Name, busy: busy.Microseconds()}
	msg := &nats.Msg{Subject: queueSubject(w.spec.Run, w.spec.Epoch, "results"), Data: file}
	for {
		var err error
		if len(file) > largeResult && r.object == "" {
			var name string
			if name, err = w.objects.Put(ctx, file); err == nil {
				r.object, msg.Data = name, nil
			}
		}
		if err == nil {
			msg.Header = r.header()
			_, err = w.js.PublishMsg(ctx, msg, jetstream.WithMsgID(m.messageID()))
		}
		if err == nil || ctx.Err() != nil {
			return err
		}
		w.options.Log.Warn("a result could not be published, trying again", "task", r.id, "error", fleet.Explain(err))
		pause(ctx, time.Second)
	}
}
