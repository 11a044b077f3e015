package commands

import (
	"fmt"
	"strconv"

	"blockyard/datasets/program/ops"
	"blockyard/rpc/server"
	"blockyard/rpc/session/limits"
	"blockyard/rpc/wire"
)

// metrics are the counts of a server, which does not serve yet, as operators see them.
func metrics(srv *server.Server, l limits.Limits) []ops.Collector {
	steps, took := ops.Durations("blockyard_server_step_duration_seconds",
		"Time to step all games of a handle and write the result, for the requests step and step_slot.")
	srv.Ledger().Totals.Took = took
	counts := ops.Metrics("blockyard_server_", func(m *ops.Scrape) {
		c := srv.Counts()
		m.Add("requests_total", "Requests received.", c.Requests.Load())
		m.Add("steps_total", "Steps of handles: all games of a handle together are stepped once.", c.Steps.Load())
		m.Add("seat_steps_total", "Steps of seats that clients drive: the sum over steps of their rows.", c.SeatSteps.Load())
		m.Add("illegal_actions_total", "Illegal actions of clients that were replaced.", c.Illegal.Load())
		m.Add("opponent_decisions_total", "Choices that opponents on the server made.", c.Decisions.Load())
		m.Add("received_bytes_total", "Bytes of requests, without TLS.", c.Received.Load())
		m.Add("sent_bytes_total", "Bytes of responses, without TLS and without slabs in shared memory.", c.Sent.Load())
		for code, n := range c.Errors {
			m.Add("errors_total", "Requests that failed, by the error code of the protocol.", n,
				"code", strconv.Itoa(code), "name", wire.Errorf(code, "").Name)
		}
		addUse(m, &c, l)
		for _, t := range c.Tokens {
			m.Add("token_sessions", "Connections with a token, by its name.", t.Sessions, "token", t.Name)
			m.Add("token_environments", "Open games of a token, by its name.", t.Envs, "token", t.Name)
			m.Add("token_memory_bytes", "Estimated memory of a token's games and uploads, by its name.", t.Memory,
				"token", t.Name)
		}
	})
	return []ops.Collector{counts, steps, ops.Info("blockyard_server_info", "Versions of the server and of its protocol.",
		map[string]string{"version": version, "protocol": fmt.Sprintf("%d.%d", server.Protocol[0], server.Protocol[1])})}
}

func addUse(m *ops.Scrape, c *server.Counts, l limits.Limits) {
	for _, u := range []struct {
		name, flag, help string
		value, limit     int
	}{
		{"sessions", "sessions", "Connections after hello", c.Sessions, l.MaxSessions},
		{"environments", "envs", "Open games", c.Envs, l.MaxEnvs},
		{"mappings", "mappings", "Mappings of memory shared with clients", c.Mappings, l.MaxMappings},
		{"files", "files", "File descriptors of connections", c.Files, l.MaxFiles},
		{"goroutines", "goroutines", "Goroutines of connections and games", c.Goroutines, l.MaxGoroutines},
		{"timers", "timers", "Timers of connections and handles", c.Timers, l.MaxTimers},
	} {
		m.Add(u.name, u.help+".", u.value)
		m.Add("limit_"+u.name, u.help+": the limit --max-"+u.flag+".", u.limit)
	}
	m.Add("handles", "Open handles.", c.Handles)
	for _, b := range []struct {
		budget       string
		value, limit int64
	}{
		{"games", c.Memory, l.MaxMemory}, {"requests", c.RequestMemory, c.RequestMemoryLimit},
		{"responses", c.ReplyMemory, l.MaxReplies},
	} {
		m.Add("memory_bytes", "Memory by budget: games and uploaded weights (an estimate), requests "+
			"being received beyond each session's share, responses being built.", b.value, "budget", b.budget)
		m.Add("limit_memory_bytes", "Limits of the memory budgets: --max-memory, the shared part of "+
			"--max-buffered, --max-replies.", b.limit, "budget", b.budget)
	}
}
