package client_test

import (
	"blockyard/rpc/session/limits"
	"context"
	"encoding/binary"
	"fmt"
	"log"

	"blockyard/env/games"
	"blockyard/rpc/server"
	"blockyard/rpc/server/listen"
	"blockyard/rpc/wire/client"
)

// Play two games of Dropblox with the first legal action of each, on a server in this process.
func Example() {
	listener, err := listen.Listen("tcp:127.0.0.1:0", nil, listen.Credentials{})
	if err != nil {
		log.Fatal(err)
	}
	srv := server.New(server.Config{Games: games.All, Limits: limits.DefaultLimits()})
	go srv.Serve(listener)

	c, err := client.Dial(context.Background(), listen.Name(listener), "", nil)
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	g, err := c.Open("dropblox", map[string]any{"num_envs": 2, "reward": "score"})
	if err != nil {
		log.Fatal(err)
	}
	if err := g.Reset(map[string]any{"seed": 7}); err != nil {
		log.Fatal(err)
	}
	actions := make([]byte, 2*g.Rows)
	for range 3 {
		mask := g.Field("mask")
		for row := range g.Rows {
			binary.LittleEndian.PutUint16(actions[2*row:], firstLegal(mask[row*len(mask)/g.Rows:]))
		}
		if err := g.Step(actions); err != nil {
			log.Fatal(err)
		}
	}
	fmt.Println(g.Rows, "rows, terminated:", g.Field("terminated"))
	// Output: 2 rows, terminated: [0 0]
}

// firstLegal returns the lowest action whose bit is set.
func firstLegal(mask []byte) uint16 {
	for a := uint16(0); ; a++ {
		if mask[a>>3]>>(a&7)&1 != 0 {
			return a
		}
	}
}
