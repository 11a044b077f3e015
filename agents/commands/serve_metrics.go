package commands

import (
	"maps"
	"slices"
	"strconv"

	"blockyard/agents/contest/dropblox/server"
	"blockyard/datasets/program/ops"
)

// contestMetrics are the counts of a contest's server as operators see them.
func contestMetrics(s *server.Server) ops.Collector {
	set := ops.NewSet(s.Counts)
	set.Gauge("blockyard_contest_teams", "Teams that may play.",
		func(c *server.Counts) float64 { return float64(c.Teams) })
	set.Gauge("blockyard_contest_running_games", "Games that are not over.",
		func(c *server.Counts) float64 { return float64(c.Running) })
	set.Counters("blockyard_contest_games_total", "Games begun, by kind.", []string{"kind"},
		func(c *server.Counts) []ops.Sample {
			return []ops.Sample{{Value: float64(c.Practice), Labels: []string{"practice"}},
				{Value: float64(c.Competition), Labels: []string{"competition"}}}
		})
	set.Counter("blockyard_contest_turns_total", "Turns played.",
		func(c *server.Counts) float64 { return float64(c.Turns) })
	set.Counter("blockyard_contest_rounds_total", "Rounds of the competition that are over.",
		func(c *server.Counts) float64 { return float64(c.Rounds) })
	set.Counters("blockyard_contest_requests_total", "Requests of clients, by HTTP status.", []string{"status"},
		func(c *server.Counts) (all []ops.Sample) {
			for _, status := range slices.Sorted(maps.Keys(c.Requests)) {
				all = append(all, ops.Sample{Value: float64(c.Requests[status]), Labels: []string{strconv.Itoa(status)}})
			}
			return all
		})
	set.Counter("blockyard_contest_history_errors_total", "Games whose history could not be written.",
		func(c *server.Counts) float64 { return float64(c.HistoryErrors) })
	return set
}
