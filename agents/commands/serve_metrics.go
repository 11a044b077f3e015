package commands

import (
	"strconv"

	"blockyard/agents/contest/dropblox/server"
	"blockyard/datasets/program/ops"
)

// contestMetrics are the counts of a contest's server as operators see them.
func contestMetrics(s *server.Server) ops.Collector {
	return ops.Metrics("blockyard_contest_", func(m *ops.Scrape) {
		c := s.Counts()
		m.Add("teams", "Teams that may play.", c.Teams)
		m.Add("running_games", "Games that are not over.", c.Running)
		m.Add("games_total", "Games begun, by kind.", c.Practice, "kind", "practice")
		m.Add("games_total", "Games begun, by kind.", c.Competition, "kind", "competition")
		m.Add("turns_total", "Turns played.", c.Turns)
		m.Add("rounds_total", "Rounds of the competition that are over.", c.Rounds)
		for status, n := range c.Requests {
			m.Add("requests_total", "Requests of clients, by HTTP status.", n, "status", strconv.Itoa(status))
		}
		m.Add("history_errors_total", "Games whose history could not be written.", c.HistoryErrors)
	})
}
