// Package openenvload plays games on a server of OpenEnv over WebSockets, for the benchmark openenv_speed.py: its test
// program (go test -c), with an address, prints how many steps it made in how much time, as a line of JSON.
package openenvload

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/coder/websocket/wsjson"
	"golang.org/x/sync/errgroup"
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
	fmt.Printf("{\"steps\": %d, \"seconds\": %f}\n", steps, took.Seconds())
}

// run plays in all sessions at once and returns the steps between the first reset of the last session and the end.
func run(url string, sessions int, duration time.Duration) (int64, time.Duration, error) {
	players := make([]player, sessions)
	var opening, playing errgroup.Group
	for k := range players {
		opening.Go(func() error { return players[k].open(url, k) })
	}
	if err := opening.Wait(); err != nil {
		return 0, 0, err
	}
	var steps atomic.Int64
	start := time.Now()
	for k := range players {
		playing.Go(func() error {
			defer players[k].conn.CloseNow()
			for n := k; time.Since(start) < duration; n += 7 {
				if err := players[k].move(n); err != nil {
					return err
				}
				steps.Add(1)
			}
			return nil
		})
	}
	err := playing.Wait()
	return steps.Load(), time.Since(start), err
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
func (p *player) open(url string, seed int) (err error) {
	p.seed = seed
	p.conn, _, err = websocket.Dial(context.Background(), strings.Replace(url, "http", "ws", 1)+"/ws", nil)
	if err != nil {
		return err
	}
	p.conn.SetReadLimit(1 << 20)
	return p.reset()
}

func (p *player) reset() error {
	p.seed += 1000
	return p.ask("reset", map[string]any{"seed": p.seed})
}

// move plays the n-th legal move, counted around; a game that has ended begins again first.
func (p *player) move(n int) error {
	for p.last.Data.Done || len(p.last.Data.Observation.LegalMoves) == 0 {
		if err := p.reset(); err != nil {
			return err
		}
	}
	moves := p.last.Data.Observation.LegalMoves
	return p.ask("step", map[string]any{"move": moves[n%len(moves)]})
}

// ask sends a message and reads the answer.
func (p *player) ask(kind string, data map[string]any) error {
	if err := wsjson.Write(context.Background(), p.conn, map[string]any{"type": kind, "data": data}); err != nil {
		return err
	}
	p.last.Data.Done, p.last.Data.Observation.LegalMoves = false, nil
	if err := wsjson.Read(context.Background(), p.conn, &p.last); err != nil {
		return err
	}
	if p.last.Type != "observation" {
		return fmt.Errorf("%s: %s", kind, p.last.Data.Message)
	}
	return nil
}
