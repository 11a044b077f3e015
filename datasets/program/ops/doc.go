// Package ops gives long-running commands what their operators need: health checks and metrics over HTTP, and
// structured logs. The commands rpc serve, train selfplay, train join and agents serve dropblox use it.
//
// It knows no program: programs pass it Prometheus collectors.
//
// A command embeds Flags and needs two calls; metrics is what Metrics returns:
//
//	site, err := c.Start(log, metrics)
//	if err != nil {
//		return err
//	}
//	defer site.Close()
//	site.Ready()
//
// Without --http, Start returns a nil Site. Every method of it does nothing.
//
// # Metrics
//
// Names are blockyard_PROGRAM_WHAT_UNIT. The unit is a base unit of Prometheus (seconds, bytes, ratio) or the
// noun that is counted (steps, games); counters end in _total. Package opstest checks names and help texts.
// Values are read when Prometheus asks, from counters that the program keeps anyway, so that metrics cost
// nothing between two scrapes.
//
// # Security
//
// Nothing is served by default. The pages need no password and can only be read: no request changes anything.
// They contain counts, limits, the names (not the secrets) of tokens and teams, and the Go version; no
// addresses of clients, no paths, no command line. An address must name its host, so that a page is only public
// if someone wrote 0.0.0.0, [::] or the address of a network.
package ops
