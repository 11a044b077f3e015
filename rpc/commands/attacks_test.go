package commands

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"blockyard/agents/bots"
	"blockyard/agents/mlp"
	"blockyard/env/blocking"
)

// attacks call a method with what makes it take the most memory. What they prepare is answered; the last requests are
// not read.
var attacks = map[string]func(*attacker){
	"hello": func(a *attacker) {
		a.send(20, "hello", map[string]any{"proto": []int{3, 0}, "client": strings.Repeat("x", 60_000)})
	},
	"ping":          func(a *attacker) { a.send(100, "ping", make([]byte, 60_000)) },
	"games":         func(a *attacker) { a.send(1000, "games") },
	"describe":      func(a *attacker) { a.send(1000, "describe", "blocking") },
	"feature_names": func(a *attacker) { a.send(500, "feature_names", "tetrisduel") },
	"stats":         func(a *attacker) { a.send(1000, "stats") },
	"text":          func(a *attacker) { a.send(20, "text", "blocking", make([]byte, 65_000)) },
	"parse":         func(a *attacker) { a.bulk("parse", "blocking", map[string]any{"texts": long(1000, 4000)}) },
	"report": func(a *attacker) {
		games := a.room >> 11
		a.send(8, "report", "wintetris", map[string]any{"players": []string{"x"}, "scores": make([]byte, 4*games),
			"results": make([]byte, 4*games), "actions": make([]byte, 4*games), "stopped": make([]byte, games)})
	},
	"upload":      func(a *attacker) { uploads(a) },
	"drop_upload": func(a *attacker) { a.bulk("drop_upload", uploads(a)) },
	"weights": func(a *attacker) {
		name := uploads(a)
		a.call("open", "blocking", map[string]any{"opponents": map[int]string{1: "learned:weights=" + name}})
		a.send(8, "weights", 1, name)
	},
	"open":  opens,
	"close": func(a *attacker) { opens(a); a.send(16, "close", 1) },
	"reset": func(a *attacker) { stepping(a, nil); a.send(8, "reset", 2) },
	"step": func(a *attacker) {
		rows := stepping(a, nil)
		a.send(4, "step", 2, make([]byte, 8*rows))
		a.send(8, "step", 2, make([]byte, 2*rows))
	},
	"share":       shares,
	"step_slot":   func(a *attacker) { shares(a); a.send(16, "step_slot", 2, 0) },
	"share_final": func(a *attacker) { stepping(a, nil); a.send(16, "share_final", 2) },
	"push_final": func(a *attacker) {
		rows := stepping(a, map[string]any{"max_episode_steps": 1})
		a.call("push_final", 2)
		a.send(16, "step", 2, make([]byte, 2*rows))
	},
	"final":        func(a *attacker) { ends(a); a.send(8, "final", 2); a.send(8, "final", 2, 0) },
	"legal":        func(a *attacker) { stepping(a, nil); a.send(16, "legal", 2, nil) },
	"afterstates":  func(a *attacker) { stepping(a, nil); a.send(8, "afterstates", 2, nil) },
	"features":     func(a *attacker) { stepping(a, nil); a.send(8, "features", 2, nil) },
	"observe":      func(a *attacker) { stepping(a, nil); a.send(16, "observe", 2, nil) },
	"observe_text": func(a *attacker) { stepping(a, nil); a.send(4, "observe_text", 2, nil) },
	"render":       func(a *attacker) { stepping(a, nil); a.send(500, "render", 2, 0, map[string]any{"mode": "rgb"}) },
	"snapshot":     func(a *attacker) { stepping(a, nil); a.send(16, "snapshot", 2, nil) },
	"restore": func(a *attacker) {
		stepping(a, nil)
		var d struct {
			Count  int    `msgpack:"count"`
			States []byte `msgpack:"states"`
		}
		_ = a.c.Call("snapshot", &d, 2, nil)
		a.bulk("restore", 2, first(d.Count), d.States)
	},
	"clone": func(a *attacker) {
		n := stepping(a, nil) / 2
		turned := append(first(n)[4:], 0, 0, 0, 0)
		a.send(4, "clone", 2, first(n), turned)
	},
	"checkpoint": func(a *attacker) { leagues(a); a.send(8, "checkpoint", 2, nil) },
	"resume": func(a *attacker) {
		stepping(a, nil)
		head, _ := json.Marshal(map[string]any{"format": 4, "opponents": long(60_000, 100)})
		a.bulk("resume", 2, nil, head, make([]byte, 4<<20))
	},
	"replay": func(a *attacker) {
		n := stepping(a, nil) / 2
		a.send(4, "replay", 2, nil, bytes.Repeat([]byte{1, 0, 0, 0}, n), make([]byte, 4*n), nil)
	},
	"rollout": func(a *attacker) {
		n := stepping(a, nil) / 2
		a.send(2, "rollout", 2, max(1, (8<<20)/(n*1000)))
		a.send(2, "rollout", 2, 2, map[string]any{"keep": "last", "policy": "learned"})
	},
	"record": func(a *attacker) {
		stepping(a, map[string]any{"max_episode_steps": 1})
		a.call("record", 2, map[string]any{"every": 1, "memory": a.room / 3})
		a.send(4, "rollout", 2, 10, map[string]any{"keep": "last"})
	},
	"records": func(a *attacker) {
		stepping(a, map[string]any{"max_episode_steps": 1})
		a.call("record", 2, map[string]any{"every": 1, "memory": a.room / 3})
		a.call("rollout", 2, 10, map[string]any{"keep": "last"})
		a.send(8, "records", 2)
	},
	"send": func(a *attacker) {
		n := stepping(a, nil) / 2
		a.send(4, "send", 2, first(n), make([]byte, 4*n))
	},
	"recv": func(a *attacker) {
		n := stepping(a, nil) / 2
		for range 3 {
			a.send(1, "send", 2, first(n), make([]byte, 4*n))
			a.send(4, "recv", 2, n, n, 1000)
		}
	},
	"asked": func(a *attacker) {
		stepping(a, map[string]any{"opponents": map[int]any{1: "client:me"}})
		a.send(8, "asked", 2, nil)
	},
	"answer": func(a *attacker) {
		n := stepping(a, map[string]any{"opponents": map[int]any{1: "client:me"}})
		a.send(8, "answer", 2, first(n), bytes.Repeat([]byte{1}, n), bytes.Repeat([]byte{0xFF}, 2*n))
	},
	"stream_stats":   func(a *attacker) { stepping(a, nil); a.send(500, "stream_stats", 2) },
	"set_opponents":  func(a *attacker) { leagues(a); a.send(4, "rollout", 2, 1, map[string]any{"keep": "last"}) },
	"opponent_stats": func(a *attacker) { leagues(a); a.send(16, "opponent_stats", 2) },
}

// stepping opens and resets games for half of the attacker's room, as handle 2, and returns the number of their rows.
func stepping(a *attacker, options map[string]any) int {
	all := map[string]any{"autoreset": "SameStep", "illegal": "random"}
	for k, v := range options {
		all[k] = v
	}
	g := a.open("blockbattle", all, a.room/2)
	if g == nil {
		return 2
	}
	a.call("reset", g.H)
	return g.Rows
}

// ends lets all games end in one step.
func ends(a *attacker) {
	a.room *= 2
	rows := stepping(a, map[string]any{"max_episode_steps": 1})
	a.call("step", 2, make([]byte, 2*rows))
}

// opens opens single games until there are no more handles.
func opens(a *attacker) {
	for range 64 {
		a.call("open", "blocking", map[string]any{"num_envs": 1, "seats": 4, "autoreset": "SameStep"})
	}
	for k := range 64 {
		a.call("reset", k+1)
		a.call("legal", k+1, nil)
	}
}

// shares takes as much shared memory as there may be, in the smallest pieces.
func shares(a *attacker) {
	stepping(a, map[string]any{"fields": []string{"seat"}})
	for range 64 {
		a.call("share", 2, 256, 1)
	}
}

// uploads uploads weights of 15 MB, if no other attacker does at the moment, and returns their name.
func uploads(a *attacker) string {
	big := weightsFile()
	name := fmt.Sprintf("sha256:%x", sha256.Sum256(big))
	a.bulk("upload", "blocking", "learned:weights="+name, big)
	return name
}

// weightsFile is a network that takes more memory than its file: layers of one output.
var weightsFile = sync.OnceValue(func() []byte {
	g := blocking.Game
	names := bots.Features(g).Names
	wide := 4096
	layer := func(in, out int) mlp.Layer {
		return mlp.Layer{In: in, Out: out, W: make([]float32, in*out), B: make([]float32, out)}
	}
	net := mlp.Trusted([]mlp.Layer{layer(len(names), wide), layer(wide, 1), layer(1, wide), layer(wide, 256), layer(256, 1)})
	var b bytes.Buffer
	if err := mlp.Write(&b, net, bots.Of(g).Facts(g, nil)); err != nil {
		panic(err)
	}
	return b.Bytes()
})

// leagues gives games more and more opponents that search, all different.
func leagues(a *attacker) {
	stepping(a, map[string]any{"opponents": map[int]any{1: "random"}})
	for n := range 20 {
		var mixture []any
		for k := range 64 {
			mixture = append(mixture, []any{fmt.Sprintf("learned:ply=1,width=%d", 64*n+k+1), 1})
		}
		a.call("set_opponents", 2, map[int]any{1: mixture})
	}
}

// first is the first n games.
func first(n int) (b []byte) {
	for k := range n {
		b = append(b, byte(k), byte(k>>8), byte(k>>16), byte(k>>24))
	}
	return b
}

// long are n texts.
func long(n, size int) (texts []string) {
	for range n {
		texts = append(texts, strings.Repeat(" ", size))
	}
	return texts
}
