package blockbattlelog

import (
	"slices"
	"strings"

	"blockyard/datasets/conform"
	"blockyard/env/blockbattle"
)

// An outcome is all of a round that the switches of the rules can change.
type outcome struct {
	tspin, skipped        [2]bool
	gain, lines           [2]int
	points, combos, skips [2]int
	winner                string
	over                  bool
	losses, end0, end1    string
}

// under plays a round of a copy of s by other rules.
func under(rules blockbattle.Rules, s *blockbattle.State, outs [2]string, holes [2][][]int, next int) (outcome, *played) {
	other := *s
	other.Rules = rules
	p := play(&other, outs, holes, next)
	o := outcome{winner: p.winner, over: len(p.losses) > 0, losses: lossText(p.losses)}
	for i := range p.lands {
		o.tspin[i], o.skipped[i] = p.lands[i].TSpin, p.lands[i].Skipped
		o.gain[i], o.lines[i] = p.rep.Sides[i].Gain, p.rep.Sides[i].Lines
		o.points[i], o.combos[i], o.skips[i] = int(p.after[i].Points), int(p.after[i].Combo), int(p.after[i].Skips)
	}
	o.end0, o.end1 = field(&p.after[0], -1), field(&p.after[1], -1)
	return o, p
}

// names of the switches, and the classic engine's rules with one of them as published.
var oneSwitch = []struct {
	name  string
	rules blockbattle.Rules
}{
	{"T_NET_TURN", blockbattle.Classic | blockbattle.NetTurn},
	{"T_LATE_TOKEN", blockbattle.Classic &^ blockbattle.LateToken},
	{"PC_NEEDS_CLEAR", blockbattle.Classic | blockbattle.PCNeedsClear},
	{"DRAW_BY_SET", blockbattle.Classic | blockbattle.DrawBySet},
}

// switches names the switches that change this round of a classic game; nil if the
// published rules play it alike.
func switches(s *blockbattle.State, outs [2]string, holes [2][][]int, next int) []string {
	classic, _ := under(blockbattle.Classic, s, outs, holes, next)
	document, _ := under(blockbattle.Document, s, outs, holes, next)
	if classic == document {
		return nil
	}
	why := []string{}
	for _, one := range oneSwitch {
		if o, _ := under(one.rules, s, outs, holes, next); o != classic {
			why = append(why, one.name)
		}
	}
	return why
}

func sorted(names []string) string {
	return strings.Join(slices.Sorted(slices.Values(names)), " ")
}

// compareDocument holds what a transcript says of the published rules in a single round.
func compareDocument(t *conform.Tally, d *documentResult, s *blockbattle.State, outs [2]string, holes [2][][]int) {
	why := switches(s, outs, holes, 0)
	conform.Same(t, "document differs", d.differs, why != nil)
	if !d.differs {
		return
	}
	if d.Why != nil {
		conform.Same(t, "document why", sorted(d.Why), sorted(why))
	}
	_, p := under(blockbattle.Document, s, outs, holes, 0)
	if d.Winner.given {
		conform.Same(t, "document winner", d.Winner.name, p.winner)
	}
	for i := range d.P {
		r, rep, after := &d.P[i], &p.rep.Sides[i], &p.after[i]
		name := "document " + player(i) + " "
		conform.Given(t, name+"tspin", r.TSpin, p.lands[i].TSpin)
		conform.Given(t, name+"gain", r.Gain, rep.Gain)
		conform.Given(t, name+"lines", r.Lines, rep.Lines)
		conform.Given(t, name+"pts", r.Pts, int(after.Points))
		conform.Given(t, name+"combo", r.Combo, int(after.Combo))
		conform.Given(t, name+"skips", r.Skips, int(after.Skips))
	}
}
