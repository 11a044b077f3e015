// Package openenvload plays games on a server of OpenEnv over WebSockets, for the benchmark openenv_speed.py: its test
// program (go test -c), with an address, prints how many steps it made in how much time, as a line of JSON.
package openenvload

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/coder/websocket/wsjson"
)

func TestMain(m *testing.M) {
	url := flag.String("url", "", "address of the server, such as http://127.0.0.1:8000")
	sessions := flag.Int("sessions", 64, "sessions at the same time")
	duration := flag.Duration("for", 5*time.Second, "how long to play")
	flag.Parse()
	if *url == "" { // run by go test
		os.Exit(m.Run())
	}
	steps, took, err := run(*url, *sessions, *duration)
	if err != nil {
		fmt.Fprintln(os.Stderr, "openenvload:", err)
		os.Exit(1)
	}
	_ = json.NewEncoder(os.Stdout).Encode(map[string]any{"steps": steps, "seconds": took.Seconds()})
}

// run plays in all sessions at once and returns the steps between the first reset of the last session and the end.
func run(url string, sessions int, duration time.Duration) (steps int64, took time.Duration, err error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var count atomic.Int64
	var ready, all sync.WaitGroup
	failed := make(chan error, sessions)
	begin := make(chan struct{})
	ready.Add(sessions)
	for k := range sessions {
		all.Go(func() {
			p, err := open(ctx, url, k)
			ready.Done()
			if err == nil {
				<-begin
				err = p.play(ctx, &count)
			}
			if err != nil && ctx.Err() == nil {
				failed <- err
			}
		})
	}
	ready.Wait()
	start := time.Now()
	close(begin)
	select {
	case err = <-failed:
	case <-time.After(duration):
	}
	took, steps = time.Since(start), count.Load()
	cancel()
	all.Wait()
	return steps, took, err
}

// A player is one session.
type player struct {
	conn *websocket.Conn
	seed int
	last struct { // what the player reads of an answer
		Type string
		Data struct {
			Done        bool
			Message     string // of an error
			Observation struct {
				LegalMoves []string `json:"legal_moves"`
			}
		}
	}
}

// open begins a session and its first episode.
func open(ctx context.Context, url string, seed int) (*player, error) {
	conn, _, err := websocket.Dial(ctx, strings.Replace(url, "http", "ws", 1)+"/ws", nil)
	if err != nil {
		return nil, err
	}
	conn.SetReadLimit(1 << 20)
	p := &player{conn: conn, seed: seed}
	return p, p.reset(ctx)
}

func (p *player) reset(ctx context.Context) error {
	p.seed += 1000
	return p.ask(ctx, "reset", map[string]any{"seed": p.seed})
}

// ask sends a message and reads the answer.
func (p *player) ask(ctx context.Context, kind string, data any) error {
	if err := wsjson.Write(ctx, p.conn, map[string]any{"type": kind, "data": data}); err != nil {
		return err
	}
	p.last.Data.Done, p.last.Data.Observation.LegalMoves = false, nil
	if err := wsjson.Read(ctx, p.conn, &p.last); err != nil {
		return err
	}
	if p.last.Type != "observation" {
		return errors.New(p.last.Data.Message)
	}
	return nil
}

// play plays episodes, with legal moves that follow from the seed, until ctx ends.
func (p *player) play(ctx context.Context, count *atomic.Int64) error {
	defer p.conn.CloseNow()
	for n := p.seed; ; n += 7 {
		moves := p.last.Data.Observation.LegalMoves
		if p.last.Data.Done || len(moves) == 0 {
			if err := p.reset(ctx); err != nil {
				return err
			}
			continue
		}
		if err := p.ask(ctx, "step", map[string]string{"move": moves[n%len(moves)]}); err != nil {
			return err
		}
		count.Add(1)
	}
}
