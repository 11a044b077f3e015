package commands

import (
	"fmt"

	"blockyard/rpc/server/limits"

	"blockyard/datasets/program/ops"
	"blockyard/rpc/server"
)

// metrics are the counts of a server as operators see them.
func metrics(srv *server.Server, l limits.Limits) []ops.Collector {
	s := ops.NewSet(srv.Counts)
	counter := func(name, help string, value func(*server.Counts) uint64) {
		s.Counter("blockyard_server_"+name, help, func(c *server.Counts) float64 { return float64(value(c)) })
	}
	counter("requests_total", "Requests received.", func(c *server.Counts) uint64 { return c.Requests })
	counter("steps_total", "Steps of handles: all games of a handle together are stepped once.",
		func(c *server.Counts) uint64 { return c.Steps })
	counter("seat_steps_total", "Steps of seats that clients drive: the sum over steps of their rows.",
		func(c *server.Counts) uint64 { return c.SeatSteps })
	counter("illegal_actions_total", "Illegal actions of clients that were replaced.",
		func(c *server.Counts) uint64 { return c.Illegal })
	counter("opponent_decisions_total", "Choices that opponents on the server made.",
		func(c *server.Counts) uint64 { return c.Decisions })
	counter("received_bytes_total", "Bytes of requests, without TLS.", func(c *server.Counts) uint64 { return c.Received })
	counter("sent_bytes_total", "Bytes of responses, without TLS and without slabs in shared memory.",
		func(c *server.Counts) uint64 { return c.Sent })
	s.Counters("blockyard_server_errors_total", "Requests that failed, by the error code of the protocol.",
		[]string{"code", "name"}, func(c *server.Counts) (all []ops.Sample) {
			for _, e := range c.Errors {
				all = append(all, ops.Sample{Value: float64(e.Count), Labels: []string{e.Code, e.Name}})
			}
			return all
		})
	s.Histogram("blockyard_server_step_duration_seconds", "Time to step all games of a handle and write the result, "+
		"for the requests step and step_slot.", func(c *server.Counts) ops.Histogram { return histogram(&c.Durations) })
	addUse(s, l)
	addTokens(s)
	return []ops.Collector{s, ops.Info("blockyard_server_info", "Versions of the server and of its protocol.",
		map[string]string{"version": version, "protocol": fmt.Sprintf("%d.%d", server.Protocol[0], server.Protocol[1])})}
}

// addUse adds what is open and its limits.
func addUse(s *ops.Set[server.Counts], l limits.Limits) {
	for _, u := range []struct {
		name, help string
		limit      int
		value      func(*server.Counts) int
	}{
		{"sessions", "Connections after hello", l.MaxSessions, func(c *server.Counts) int { return c.Sessions }},
		{"environments", "Open games", l.MaxEnvs, func(c *server.Counts) int { return c.Envs }},
		{"mappings", "Mappings of memory shared with clients", l.MaxMappings,
			func(c *server.Counts) int { return c.Mappings }},
		{"files", "File descriptors of connections", l.MaxFiles, func(c *server.Counts) int { return c.Files }},
		{"goroutines", "Goroutines of connections and games", l.MaxGoroutines,
			func(c *server.Counts) int { return c.Goroutines }},
		{"timers", "Timers of connections and handles", l.MaxTimers, func(c *server.Counts) int { return c.Timers }},
	} {
		limit := float64(u.limit)
		s.Gauge("blockyard_server_"+u.name, u.help+".", func(c *server.Counts) float64 { return float64(u.value(c)) })
		s.Gauge("blockyard_server_limit_"+u.name, u.help+": the limit --max-"+flagOf(u.name)+".",
			func(*server.Counts) float64 { return limit })
	}
	s.Gauge("blockyard_server_handles", "Open handles.", func(c *server.Counts) float64 { return float64(c.Handles) })
	budgets := []string{"games", "requests", "responses"}
	sizes := func(bytes ...int64) (all []ops.Sample) {
		for k, n := range bytes {
			all = append(all, ops.Sample{Value: float64(n), Labels: budgets[k : k+1]})
		}
		return all
	}
	s.Gauges("blockyard_server_memory_bytes", "Memory by budget: games and uploaded weights (an estimate), requests "+
		"being received beyond each session's share, responses being built.", []string{"budget"},
		func(c *server.Counts) []ops.Sample { return sizes(c.Memory, c.RequestMemory, c.ReplyMemory) })
	s.Gauges("blockyard_server_limit_memory_bytes", "Limits of the memory budgets: --max-memory, the shared part of "+
		"--max-buffered, --max-replies.", []string{"budget"},
		func(c *server.Counts) []ops.Sample { return sizes(l.MaxMemory, c.RequestMemoryLimit, l.MaxReplies) })
}

// flagOf is the last word of the flag that limits something.
func flagOf(name string) string {
	if name == "environments" {
		return "envs"
	}
	return name
}

// addTokens adds what the clients of each token have open.
func addTokens(s *ops.Set[server.Counts]) {
	add := func(name, help string, value func(*limits.TokenCount) float64) {
		s.Gauges("blockyard_server_token_"+name, help, []string{"token"}, ops.PerName(
			func(c *server.Counts) []limits.TokenCount { return c.Tokens },
			func(t *limits.TokenCount) string { return t.Name }, value))
	}
	add("sessions", "Connections with a token, by its name.",
		func(t *limits.TokenCount) float64 { return float64(t.Sessions) })
	add("environments", "Open games of a token, by its name.",
		func(t *limits.TokenCount) float64 { return float64(t.Envs) })
	add("memory_bytes", "Estimated memory of a token's games and uploads, by its name.",
		func(t *limits.TokenCount) float64 { return float64(t.Memory) })
}

func histogram(d *server.Durations) ops.Histogram {
	h := ops.Histogram{Sum: d.Sum, Buckets: map[float64]uint64{}}
	for k, n := range d.Buckets {
		h.Count += n
		if k < len(d.Buckets)-1 {
			h.Buckets[d.Bound(k).Seconds()] = h.Count
		}
	}
	return h
}
