// Command goclient is a client of the chaos test over package rpc/client; see ../clients.py.
//
//	goclient go tcp:HOST:PORT ENVS STEPS GAME...
package main

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"net"
	"os"
	"slices"
	"strconv"
	"syscall"
	"time"

	"blockyard/rpc/client"
)

const (
	seed = 11
	gone = 3 // exit status if the connection ended
)

// solo are the games without an opponent.
var solo = []string{"WinTetris-v0", "Dropblox-v0"}

func main() {
	err := run(os.Args[1:])
	if err == nil {
		return
	}
	fmt.Fprintln(os.Stderr, "goclient:", err)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) ||
		errors.Is(err, syscall.EPIPE) || errors.As(err, new(*net.OpError)) {
		os.Exit(gone)
	}
	os.Exit(1)
}

func run(args []string) error {
	if len(args) < 5 {
		return errors.New("want the arguments go ADDRESS ENVS STEPS and games")
	}
	envs, err1 := strconv.Atoi(args[2])
	steps, err2 := strconv.Atoi(args[3])
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	for _, game := range args[4:] {
		sum, err := play(args[1], game, envs, steps)
		if err != nil {
			return err
		}
		fmt.Println(game, sum)
	}
	return nil
}

// play returns the hash of all that a game sends.
func play(address, game string, envs, steps int) (sum string, err error) {
	c, err := client.Dial(context.Background(), address, "")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	c.Timeout = 2 * time.Minute
	options := map[string]any{"num_envs": envs, "seed": seed, "autoreset": "SameStep"}
	if !slices.Contains(solo, game) {
		options["opponents"] = map[int]string{1: "random"}
	}
	g, err := c.Open(game, options)
	if err != nil {
		return "", err
	}
	if err := g.Reset(nil); err != nil {
		return "", err
	}
	hash, actions := sha256.New(), make([]byte, 2*g.Rows)
	for t := range steps {
		choose(g.Field("mask"), g.Rows, t, actions)
		for _, name := range []string{"mask", "planes", "globals", "reward", "score", "terminated", "truncated"} {
			hash.Write(g.Field(name))
		}
		if err := g.Step(actions); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("%x", hash.Sum(nil)), nil
}

// choose fills actions with the (7·step + 13·row)-th legal action of each row, counted around. A row that need not act
// gets action 0 and its bit in the mask, as in the Python package.
func choose(masks []byte, rows, step int, actions []byte) {
	width := len(masks) / rows
	for r := range rows {
		mask := masks[r*width : (r+1)*width]
		n := 0
		for _, b := range mask {
			n += bits.OnesCount8(b)
		}
		if n == 0 {
			mask[0], n = 1, 1
		}
		k := (7*step + 13*r) % n
		for i, b := range mask {
			if k >= bits.OnesCount8(b) {
				k -= bits.OnesCount8(b)
				continue
			}
			for ; k > 0; k-- {
				b &= b - 1
			}
			binary.LittleEndian.PutUint16(actions[2*r:], uint16(8*i+bits.TrailingZeros8(b)))
			break
		}
	}
}
