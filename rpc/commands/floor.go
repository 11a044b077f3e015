package commands

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os/exec"
	"time"

	"blockyard/env"
	"blockyard/env/envtest/toy"
	"blockyard/rpc/server"
)

// floorCmd answers messages of one length with messages of another. No server can be faster.
type floorCmd struct {
	Path   string `arg:""`
	Ask    int    `arg:""`
	Answer int    `arg:""`
}

// Run serves one connection.
func (c *floorCmd) Run(context.Context) error {
	if c.Ask < 1 || c.Answer < 8 {
		return errors.New("floor: the request needs at least 1 byte and the response 8")
	}
	l, err := net.Listen("unix", c.Path)
	if err != nil {
		return err
	}
	defer l.Close()
	fmt.Println("ready")
	conn, err := l.Accept()
	if err != nil {
		return err
	}
	defer conn.Close()
	server.Tune(conn)
	in, out := make([]byte, c.Ask), make([]byte, c.Answer)
	for {
		if _, err := io.ReadFull(conn, in); err != nil {
			return nil // the client has disconnected
		}
		if in[0] == 0xff { // a request for the CPU time
			used, err := server.CPU()
			if err != nil {
				return err
			}
			binary.LittleEndian.PutUint64(out, uint64(used))
		}
		if _, err := conn.Write(out); err != nil {
			return nil
		}
	}
}

// A bareSocket is the client of such a process.
type bareSocket struct {
	cmd      *exec.Cmd
	conn     net.Conn
	ask, got []byte
}

func bare(ctx context.Context, path string, ask, answer int) (*bareSocket, error) {
	cmd, _, _, err := child(ctx, "floor", path, fmt.Sprint(ask), fmt.Sprint(answer))
	if err != nil {
		return nil, err
	}
	b := &bareSocket{cmd: cmd, ask: make([]byte, ask), got: make([]byte, answer)}
	if b.conn, err = net.Dial("unix", path); err != nil {
		return nil, errors.Join(err, cmd.Process.Kill(), cmd.Wait())
	}
	server.Tune(b.conn)
	return b, nil
}

func (b *bareSocket) reset() error     { return nil }
func (b *bareSocket) flush() error     { return nil }
func (b *bareSocket) step(k int) error { return b.exchange() }

func (b *bareSocket) exchange() error {
	if _, err := b.conn.Write(b.ask); err != nil {
		return err
	}
	_, err := io.ReadFull(b.conn, b.got)
	return err
}

func (b *bareSocket) cpu() (time.Duration, error) {
	b.ask[0] = 0xff
	err := b.exchange()
	b.ask[0] = 0
	if err != nil {
		return 0, err
	}
	own, err := server.CPU()
	return own + time.Duration(binary.LittleEndian.Uint64(b.got)), err
}

// Close implements io.Closer.
func (b *bareSocket) Close() error { return errors.Join(b.conn.Close(), b.cmd.Wait()) }

// A nullState is a game that never ends and whose large boards are never written: a step measures the transport alone.
type nullState struct{ toy.State }

// Step implements env.State.
func (s *nullState) Step(m env.Moves) {
	s.State.Step(m)
	s.Played, s.Points = 0, [env.MaxSeats]uint8{}
}

// CopyFrom implements env.State.
func (s *nullState) CopyFrom(src env.State) { *s = *src.(*nullState) }

// Observe implements env.State without writing the boards.
func (s *nullState) Observe(seat int, _ []uint8, globals []float32) {
	var planes [12]uint8
	s.State.Observe(seat, planes[:], globals)
}

// null is one game with observations as large as those of n rows of other games: 245 bytes per row are
// typical on the wire.
func null(n int) *env.Game {
	g := *toy.Pick
	g.Name, g.ID = fmt.Sprintf("null:%d", n), fmt.Sprintf("Null%d-v0", n)
	g.Planes, g.PlaneNames = env.Shape{C: 1, H: max(1, n/2), W: 245}, []string{"nothing"} // for two rows
	g.New = func(seats int) env.State { return &nullState{*toy.Pick.New(seats).(*toy.State)} }
	return &g
}

var nullSizes = []int{1, 64, 1024, 4096, 16384}

// toys are games that take almost no time, to measure everything else.
var toys = func() []*env.Game {
	all := []*env.Game{toy.Pick, toy.Turns}
	for _, n := range nullSizes {
		all = append(all, null(n))
	}
	return all
}()
