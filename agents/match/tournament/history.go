package tournament

import (
	"cmp"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"blockyard/agents/match"
	"blockyard/datasets/program/disk"
)

// A history is how the ratings of an entrant's versions follow each other: a curve of 300 by 100.
type history struct {
	Name     string
	Line     string // the points of an SVG polyline
	Versions []dated
}

// Ends are the first and the last version.
func (h history) Ends() []dated { return []dated{h.Versions[0], h.Versions[len(h.Versions)-1]} }

// A dated version has a place on the curve, with its interval.
type dated struct {
	X, Y, Low, High int
	Title           string
}

// histories returns the curves of those who have at least two versions with a rating.
func (t *Tournament) histories(r *Report) (all []history) {
	versions, names := map[string][]match.Standing{}, []string{}
	for _, s := range r.Players {
		if of := t.Entrants[s.Number].Of; of != "" && s.Games > 0 {
			if len(versions[of]) == 0 {
				names = append(names, of)
			}
			versions[of] = append(versions[of], s)
		}
	}
	for _, name := range names {
		list := versions[name]
		if len(list) < 2 {
			continue
		}
		slices.SortFunc(list, func(a, b match.Standing) int { return cmp.Compare(a.Number, b.Number) })
		low, high := list[0].Elo.Low, list[0].Elo.High
		for _, s := range list {
			low, high = min(low, s.Elo.Low), max(high, s.Elo.High)
		}
		y := func(elo float64) int { return int(95 - 90*(elo-low)/max(high-low, 1)) }
		h, points := history{Name: name}, []string{}
		for k, s := range list {
			d := dated{10 + 280*k/(len(list)-1), y(s.Elo.Value), y(s.Elo.Low), y(s.Elo.High),
				fmt.Sprintf("%s: %+.0f (%+.0f to %+.0f), %d games", s.Name, s.Elo.Value, s.Elo.Low, s.Elo.High, s.Games)}
			h.Versions = append(h.Versions, d)
			points = append(points, fmt.Sprintf("%d,%d", d.X, d.Y))
		}
		h.Line = strings.Join(points, " ")
		all = append(all, h)
	}
	return all
}

// A change is that of a rating if one entrant were left out.
type change struct {
	Without string
	Elo     float64
}

// An influence is how much a rating depends on one of the others: the largest fall and the largest rise.
type influence struct {
	Name       string
	Fall, Rise change
}

// mostInfluences is for how many entrants influences are computed: that is the work of as many ratings.
const mostInfluences = 100

// influences returns how each rating would change if one entrant, and so all games against it, were left out. Both are
// relative to the mean of those who remain.
func influences(r *Report) (all []influence) {
	var rated []match.Standing
	for _, s := range r.Players {
		if s.Games > 0 {
			rated, all = append(rated, s), append(all, influence{Name: s.Name})
		}
	}
	if len(rated) < 3 || len(rated) > mostInfluences {
		return nil
	}
	elo := func(list []match.Standing) []match.Estimate {
		results := match.NewResults(len(list))
		for a, s := range list {
			for b, o := range list[:a] {
				results.Count(a, b, r.Between(s.Number, o.Number))
			}
		}
		return results.Elo()
	}
	before := elo(rated)
	for out, gone := range rated {
		mean := -before[out].Value / float64(len(rated)-1) // of the others; that of all is 0
		for k, e := range elo(slices.Delete(slices.Clone(rated), out, out+1)) {
			if k >= out {
				k++
			}
			c := change{gone.Name, e.Value - (before[k].Value - mean)}
			if i := &all[k]; c.Elo < i.Fall.Elo {
				i.Fall = c
			} else if c.Elo > i.Rise.Elo {
				i.Rise = c
			}
		}
	}
	return all
}

// The feeds of a league, in its folder: JSON Feed 1.1 and Atom.
const jsonFeed, atomFeed = "feed.json", "feed.atom"

const mostNews = 50 // versions in a feed: the last ones

// A feed is both feeds: the standings, and what became of each version.
type feed struct {
	XMLName xml.Name   `xml:"http://www.w3.org/2005/Atom feed" json:"-"`
	Version string     `xml:"-" json:"version"`
	ID      string     `xml:"id" json:"-"`
	Title   string     `xml:"title" json:"title"`
	Updated time.Time  `xml:"updated" json:"-"`
	Author  string     `xml:"author>name" json:"-"`
	Items   []news     `xml:"entry" json:"items"`
	Table   []standing `xml:"-" json:"_standings"`
}

// A news is an item of a feed: the standings, or a version.
type news struct {
	ID      string    `xml:"id" json:"id"`
	Title   string    `xml:"title" json:"title"`
	Updated time.Time `xml:"updated" json:"date_published"`
	Content string    `xml:"content" json:"content_text"`
}

// A standing is an entrant in the table of a feed, the best first.
type standing struct {
	Name  string         `json:"name"`
	Elo   match.Estimate `json:"elo"`
	Games int            `json:"games"`
	Left  string         `json:"left,omitempty"`
}

// writeFeeds writes how a league stands for pages of others.
func (t *Tournament) writeFeeds(dir, title string, r *Report) error {
	id := fmt.Sprintf("urn:blockyard:league:%d", t.Seed)
	f := feed{Version: "https://jsonfeed.org/version/1.1", ID: id, Title: title + ", league",
		Updated: time.Now().UTC().Truncate(time.Second),
		Author:  "Blockyard", Table: []standing{}}
	table := news{id + ":standings", fmt.Sprintf("Standings after %d games", len(t.Played)), f.Updated, ""}
	for _, s := range r.Players {
		if s.Games > 0 {
			f.Table = append(f.Table, standing{s.Name, s.Elo, s.Games, s.Left})
			table.Content += fmt.Sprintf("%d. %s, Elo %+.0f, %d games\n", len(f.Table), s.Name, s.Elo.Value, s.Games)
		}
	}
	f.Items = append(f.Items, table)
	for _, e := range t.Entrants[max(0, len(t.Entrants)-mostNews):] {
		n := news{fmt.Sprintf("%s:%d:%s", id, e.Since, e.Fingerprint), e.Name + " takes part",
			time.Unix(e.Since, 0).UTC(), e.Language}
		if e.Refused != "" {
			n.Title, n.Content = e.Name+" is refused", e.Refused
		}
		f.Items = slices.Insert(f.Items, 1, n)
	}
	asJSON, err := json.Marshal(f)
	if err != nil {
		return err
	}
	asXML, err := xml.Marshal(f)
	if err != nil {
		return err
	}
	if err := disk.Publish(filepath.Join(dir, jsonFeed), 0o644, asJSON); err != nil {
		return err
	}
	return disk.Publish(filepath.Join(dir, atomFeed), 0o644, append([]byte(xml.Header), asXML...))
}
