package server

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"

	"blockyard/agents/match"
	"blockyard/env"
	"blockyard/rpc/session/checkpoint"
	"blockyard/rpc/wire"
)

// Bounds on a report: its players, whose ratings take time with their cube, and the estimated bytes of each score.
const (
	mostPlayers = 256
	scoreMemory = 2 << 10
)

// reportOptions are the named arguments of report. A unit is as many games with the same seed as a game has seats; in
// game k of it, one player has seat k, and another one all others. Arrays are by unit, by game of the unit, by seat.
type reportOptions struct {
	Players []string     `msgpack:"players"` // their names
	Seed    wire.Natural `msgpack:"seed"`
	Seats   int          `msgpack:"seats"`   // of a game
	Between []byte       `msgpack:"between"` // <u2 [units,2]: the two players; nil for 0 and 1
	Scores  []byte       `msgpack:"scores"`  // <i4
	Results []byte       `msgpack:"results"` // <f4
	Prints  []byte       `msgpack:"prints"`  // <u8 [units,S], of games of several seats: equal for games that are; or nil
	Actions []byte       `msgpack:"actions"` // <u4, of games of one seat
	Stopped []byte       `msgpack:"stopped"` // |u1: a limit stopped these games of one seat
	Cap     int32        `msgpack:"cap"`     // the limits, 0 for none
	Steps   int32        `msgpack:"steps"`
}

// report replies with what games come to that the client has played: the report of package match, and its text.
func (s *session) report(f *wire.Frame, g *env.Game) error {
	o := reportOptions{Seats: g.MinSeats}
	if err := f.Options(1, &o); err != nil {
		return err
	}
	if err := o.check(g); err != nil {
		return err
	}
	defer s.tab.Back(s.tab.Memory())
	if err := s.tab.Add(scoreMemory * int64(len(o.Scores)/4)); err != nil {
		return err
	}
	r := match.ReportOf(g, strconv.FormatUint(uint64(o.Seed), 10), o.Players, o.played())
	r.Seats = o.Seats
	r.Limit(map[string]int{"cap": int(o.Cap), "steps": int(o.Steps)})
	text := match.Versus{Report: r}.String
	if len(o.Between) > 0 {
		slices.SortStableFunc(r.Players, match.Better)
		text = r.String
	}
	data, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	return s.Reply(f.ID, wire.Fields{"report", data, "text", text()})
}

// check returns an error unless the arrays are those of one unit or more.
func (o *reportOptions) check(g *env.Game) error {
	if o.Seats < g.MinSeats || o.Seats > g.MaxSeats {
		return badParams("report: seats is %d, want %d to %d", o.Seats, g.MinSeats, g.MaxSeats)
	}
	players, least, most := len(o.Players), min(o.Seats, 2), min(o.Seats, 2)
	if len(o.Between) > 0 {
		most = mostPlayers
	}
	if players < least || players > most {
		return badParams("report: %d players, want %d, or up to %d if between says who played", players, least, mostPlayers)
	}
	units := max(1, len(o.Scores)/(4*o.Seats*o.Seats))
	alone, several, printed := units, 0, 0 // entries of what only games of one seat have, and only those of several
	if o.Seats > 1 {
		alone, several, printed = 0, min(units, len(o.Between)), min(units*o.Seats, len(o.Prints))
	}
	for _, a := range []struct {
		name string
		data []byte
		want int
	}{
		{"scores", o.Scores, 4 * o.Seats * o.Seats * units}, {"results", o.Results, 4 * o.Seats * o.Seats * units},
		{"actions", o.Actions, 4 * alone}, {"stopped", o.Stopped, alone}, {"between", o.Between, 4 * several},
		{"prints", o.Prints, 8 * printed},
	} {
		if len(a.data) != a.want {
			return badParams("report: %s has %d bytes, want %d for %d times %d games of %d seats", a.name, len(a.data), a.want,
				units, o.Seats, o.Seats)
		}
	}
	for k, name := range o.Players {
		if len(name) > checkpoint.MostSpec {
			return badParams("report: the name of player %d has %d bytes, want at most %d", k, len(name), checkpoint.MostSpec)
		}
	}
	for pair := range slices.Chunk(words[uint16](o.Between), 2) {
		if a, b := int(pair[0]), int(pair[1]); a == b || max(a, b) >= players {
			return badParams("report: between names the players %d and %d, want two of %d", a, b, players)
		}
	}
	return nil
}

// played returns the games.
func (o *reportOptions) played() (all []match.Played) {
	n, scores, results := o.Seats, words[uint32](o.Scores), words[uint32](o.Results)
	actions, between := words[uint32](o.Actions), words[uint16](o.Between)
	all = make([]match.Played, 0, len(scores)/n)
	for k := range len(scores) / n {
		p := match.Played{Number: k, Unit: k / n}
		one, other := 0, 1
		if len(between) > 0 {
			one, other = int(between[2*p.Unit]), int(between[2*p.Unit+1])
		}
		points, won := make([]int, n), make([]float32, n)
		for seat := range n {
			points[seat] = int(int32(scores[k*n+seat]))
			won[seat] = math.Float32frombits(results[k*n+seat])
			p.Seats = append(p.Seats, other)
		}
		p.Seats[k%n] = one
		if n == 1 {
			p.Note(points, won, int(actions[k]), o.Stopped[k] != 0)
		} else {
			p.Note(points, won, 0, false)
			if len(o.Prints) > 0 {
				p.Print = match.Print(o.Prints[8*k : 8*k+8])
			}
		}
		all = append(all, p)
	}
	match.MarkRepeats(all)
	return all
}
