package tournament

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"html/template"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"blockyard/agents/contest/cage"
	"blockyard/agents/match"
	"blockyard/datasets/program/disk"
	"blockyard/datasets/viewer"
)

//go:embed page/page.html
var pageText string

//go:embed page/style.css
var pageStyle string

var pageTemplate = template.Must(template.New("page").Funcs(template.FuncMap{
	"inc":     func(n int) int { return n + 1 },
	"percent": func(s match.Standing) string { return fmt.Sprintf("%.1f %%", 100*s.Score) },
	"points":  match.Standing.AllPoints,
	"faults": func(s match.Standing) (n int) {
		for _, games := range s.Faults {
			n += games
		}
		return n
	},
	"bound": func(elo float64) int { return int(max(-590, min(590, elo))) },
	"cross": cross,
}).Parse(pageText))

func replayFile(number int) string {
	return filepath.Join("replays", fmt.Sprintf("%04d.html", number+1))
}

// A view is what the template of the page shows: the report, and what follows from it.
type view struct {
	*Report
	Title      string // of the game, with its variant
	Kind       string // tournament or league
	Done       int    // games played
	Live       bool   // games are being played, or entrants tested
	Test       string // how far the tests are
	Uploads    bool   // it takes uploads, when it is served
	Private    bool   // the logs are for the authors of bots
	Odd        bool   // something is odd about an entrant's output
	Style      template.CSS
	Final      []finalMatch
	Cross      []match.Standing // of the crosstable: the best ones
	Games      []gameRow
	Histories  []history
	Influences []influence
	dir        string
	played     []match.Played // of which Games are the last
	names      []string       // of all entrants
	from       []string       // where each entrant comes from
}

// A crossCell is the result between two entrants in the cross table: its text, its tooltip and its CSS class.
type crossCell struct{ Text, Title, Class string }

// A finalMatch is one meeting of the finals, with the games that each side has won.
type finalMatch struct {
	Stage string
	Sides []side
}

// A side is one entrant in a line of the page.
type side struct {
	Seat, Name, Score, Fault string // Seat is the contest's name of the player, such as player1
	Won                      bool
}

// A gameRow is a game in the list of the page, with links to its files.
type gameRow struct {
	*match.Played
	Sides               []side
	Replay, Log, Record string // files in the tournament's folder; "" for none
}

const replayTime = 10 * time.Second

// What a page has room for.
const (
	mostRows  = 1000 // games in the list: the last ones
	mostCross = 50   // entrants in the crosstable: the best ones
)

// WritePage writes the page of the tournament to its folder, and the replays that are missing.
func (t *Tournament) WritePage(dir string) error {
	if err := os.MkdirAll(filepath.Join(dir, "replays"), 0o755); err != nil {
		return err
	}
	title := cmp.Or(t.Rules.Title, t.Rules.Name)
	if _, variant, ok := strings.Cut(t.Rules.Name, ":"); ok {
		title += ", " + variant
	}
	v := &view{Report: t.Report(), Title: title, Kind: "tournament", Style: template.CSS(pageStyle), Final: t.finals(),
		Done: len(t.Played), Live: !t.Over && !t.Stopped, Test: t.Testing}
	if t.Format == Ongoing {
		v.Kind = string(Ongoing)
	}
	all, err := readAuthors(dir)
	v.Private = all != nil || err != nil // what is wrong with the file stops no game
	v.Uploads = v.Private && t.Uploads
	v.Cross = v.Players[:min(len(v.Players), mostCross)]
	v.Odd = slices.ContainsFunc(v.Players, func(s match.Standing) bool {
		return s.Program != nil && len(s.Program.Odd) > 0
	})
	for ; t.replays < len(t.Played); t.replays++ {
		if err := writeReplay(dir, t.replays); err != nil {
			return err
		}
	}
	for _, e := range t.Entrants {
		v.names, v.from = append(v.names, e.Name), append(v.from, e.From)
	}
	v.dir, v.played = dir, t.Played
	for k := max(0, len(v.played)-mostRows); k < len(v.played); k++ {
		v.Games = append(v.Games, v.row(k))
	}
	if t.Format == Ongoing {
		if v.Histories = t.histories(v.Report); !v.Live || 20*len(t.Played) >= 21*t.weighed {
			t.weighed, t.weights = len(t.Played), influences(v.Report)
		}
		v.Influences = t.weights
		if err := t.writeFeeds(dir, title, v.Report); err != nil {
			return err
		}
	}
	t.shown.Store(v)
	var out strings.Builder
	if err := pageTemplate.Execute(&out, v); err != nil {
		return err
	}
	return disk.WriteText(filepath.Join(dir, PageFile), 0o644, out.String())
}

// row is the line of a game.
func (v *view) row(number int) gameRow {
	file := func(name string) string {
		if _, err := os.Stat(filepath.Join(v.dir, name)); err != nil {
			return ""
		}
		return filepath.ToSlash(name)
	}
	g := &v.played[number]
	row := gameRow{g, nil, file(replayFile(number)), file(LogFile(number)), file(RecordFile(number))}
	best := slices.Min(g.Ranks)
	for seat, e := range g.Seats {
		s := side{Name: v.names[e], Score: strconv.Itoa(g.Points[seat]), Fault: g.Fault(seat)}
		if seat < len(g.Names) {
			s.Seat = g.Names[seat]
		}
		s.Won = g.Ranks[seat] == best && slices.Max(g.Ranks) > best
		row.Sides = append(row.Sides, s)
	}
	return row
}

// writeReplay writes the replay of a game that has a record, unless it is there or too long for a page.
func writeReplay(dir string, number int) error {
	record, replay := filepath.Join(dir, RecordFile(number)), filepath.Join(dir, replayFile(number))
	_, missing := os.Stat(record)
	if _, err := os.Stat(replay); missing != nil || err == nil {
		return nil
	}
	var page strings.Builder
	// The page is written when the tournament is stopped, too.
	ctx, cancel := context.WithTimeout(context.Background(), replayTime)
	defer cancel()
	if _, err := viewer.WriteHTML(ctx, &page, record, 1); err != nil {
		return nil // too long; the record can be viewed
	}
	return disk.WriteText(replay, 0o644, page.String())
}

// cross is a cell of the crosstable: how a did against b.
func cross(r *Report, a, b match.Standing) crossCell {
	if a.Number == b.Number {
		return crossCell{Class: "self"}
	}
	cell := crossCell{Title: fmt.Sprintf("%s against %s", a.Name, b.Name)}
	if c := r.Between(a.Number, b.Number); c.Total() > 0 {
		cell.Text = fmt.Sprintf("%g/%d", c.Points(), c.Total())
		cell.Class = [...]string{"loss", "draw", "win"}[1+cmp.Compare(c.Wins, c.Losses)]
	}
	return cell
}

func (t *Tournament) finals() (out []finalMatch) {
	from := slices.IndexFunc(t.Played, final)
	if from < 0 {
		return nil
	}
	in := takingPart(t.Entrants)
	for games := range slices.Chunk(t.Played[from:], t.Finals) {
		a, b := games[0].Seats[0], games[0].Seats[1]
		c, over := t.table(in, nil, games).Between(a, b), len(games) == t.Finals
		out = append(out, finalMatch{games[0].Stage, []side{
			{Name: t.Entrants[a].Name, Score: fmt.Sprintf("%g", c.Points()), Won: over && c.Wins >= c.Losses},
			{Name: t.Entrants[b].Name, Score: fmt.Sprintf("%g", float64(c.Total())-c.Points()), Won: over && c.Wins < c.Losses},
		}})
	}
	return out
}

// A Report is how a tournament stands: its players are the entrants that take part, the best first.
type Report struct {
	*match.Report
	Over    bool       `json:"over"`
	Isolate string     `json:"isolate"`       // auto, require or off: whether the programs of others are contained
	Missing []string   `json:"missing_walls"` // parts of the isolation that this machine lacks; see cage.Missing
	Refused []*Entrant `json:"refused"`       // entrants that do not take part
}

// listed returns the entrants of the table: those that take part, and those of a league that have played.
func (t *Tournament) listed() []int {
	if t.Format != Ongoing {
		return takingPart(t.Entrants)
	}
	played := make([]bool, len(t.Entrants))
	for _, g := range t.Played {
		played[g.Seats[0]], played[g.Seats[1]] = true, true
	}
	return which(t.Entrants, func(k int, e *Entrant) bool { return played[k] || e.Refused == "" && !e.Left })
}

// Report returns how the tournament stands. The places that final games decide come before all others.
func (t *Tournament) Report() *Report {
	in := t.listed()
	if t.Format == Ladder {
		match.MarkRepeats(t.Played)
	}
	r := &Report{Report: t.table(in, t.Entrants, t.Played), Over: t.Over, Isolate: string(t.Isolate), Missing: []string{}}
	r.Rate()
	order := (&plan{&t.Config, in}).decided(t.Played)
	slices.SortStableFunc(r.Players, func(a, b match.Standing) int {
		i, j := slices.Index(order, a.Number), slices.Index(order, b.Number)
		if i >= 0 || j >= 0 {
			return cmp.Compare(uint(i), uint(j)) // -1 goes last
		}
		if t.Format == Ongoing { // who met the strongest has the lowest score
			return cmp.Or(cmp.Compare(min(b.Games, 1), min(a.Games, 1)), cmp.Compare(b.Elo.Value, a.Elo.Value))
		}
		return match.Better(a, b)
	})
	if r.Expected = t.Expected; t.Format != Ladder {
		r.Settings = map[string]string{"format": string(t.Format)}
	}
	if t.Isolate != "" && t.Isolate != cage.Off {
		r.Missing = append(r.Missing, cage.Missing()...)
	}
	r.Refused = slices.DeleteFunc(slices.Clone(t.Entrants), func(e *Entrant) bool { return e.Refused == "" || e.Left })
	return r
}

// String returns the table for people, the entrants that do not take part, and how the programs were contained.
func (r *Report) String() string {
	var b strings.Builder
	b.WriteString(r.Report.String())
	if len(r.Refused) > 0 {
		b.WriteString("\nnot taking part\n")
		for _, e := range r.Refused {
			fmt.Fprintf(&b, "  %s: %s\n", e.Name, e.Refused)
		}
	}
	if text := r.Contained(); text != "" {
		fmt.Fprintf(&b, "\n%s\n", text)
	}
	return b.String()
}

// Contained says which parts of the isolation of programs are missing, "" if none is.
func (r *Report) Contained() string {
	switch {
	case r.Isolate == string(cage.Off):
		return "programs are not contained (--isolate off)"
	case len(r.Missing) > 0:
		return "walls missing here: " + strings.Join(r.Missing, "; ")
	}
	return ""
}

// table returns the standings of some entrants, in their order, without ratings.
func (c *Config) table(in []int, entrants []*Entrant, played []match.Played) *match.Report {
	var players []match.Standing
	for _, e := range in {
		p := match.Standing{Number: e}
		if entrants != nil {
			p.Name, p.Language, p.Left = entrants[e].Name, entrants[e].Language, entrants[e].absence()
			if d := entrants[e].Player().Dialect; d != "" {
				p.Language += ", dialect " + d
			}
		}
		players = append(players, p)
	}
	r := match.NewReport(c.Rules, strconv.FormatUint(c.Seed, 10), players)
	r.Add(played)
	return r
}
