package blockbattlelog

import (
	"slices"
	"strings"

	"blockyard/datasets/conform"
	"blockyard/env/blockbattle"
)

// An outcome is everything in a round that the switches of the rules can change.
type outcome struct {
	tspin, skipped [2]bool
	gain, lines    [2]int
	after          [2]blockbattle.Side
	winner, losses string
}

// under plays a round from a copy of s with other rules.
func under(rules blockbattle.Rules, s *blockbattle.State, in *inputs) (outcome, *played) {
	other := *s
	other.Rules = rules
	p := play(&other, in)
	o := outcome{after: p.after, winner: p.winner, losses: lossText(p.losses)}
	for i := range p.lands {
		o.tspin[i], o.skipped[i] = p.lands[i].TSpin, p.lands[i].Skipped
		o.gain[i], o.lines[i] = p.rep.Sides[i].Gain, p.rep.Sides[i].Lines
		o.after[i].Lost = blockbattle.NotLost // losses has it; here it includes the next spawn test
	}
	return o, p
}

// oneSwitch has the names of the switches, and the classic engine's rules with one switch as published.
var oneSwitch = []struct {
	name  string
	rules blockbattle.Rules
}{
	{"T_NET_TURN", blockbattle.Classic | blockbattle.NetTurn},
	{"T_LATE_TOKEN", blockbattle.Classic &^ blockbattle.LateToken},
	{"PC_NEEDS_CLEAR", blockbattle.Classic | blockbattle.PCNeedsClear},
	{"DRAW_BY_SET", blockbattle.Classic | blockbattle.DrawBySet},
}

// switches names the switches that change this round of a classic game. It is nil if the published rules
// have the same outcome.
func switches(s *blockbattle.State, in *inputs) []string {
	classic, _ := under(blockbattle.Classic, s, in)
	document, _ := under(blockbattle.Document, s, in)
	if classic == document {
		return nil
	}
	why := []string{}
	for _, one := range oneSwitch {
		if o, _ := under(one.rules, s, in); o != classic {
			why = append(why, one.name)
		}
	}
	return why
}

func sorted(names []string) string {
	return strings.Join(slices.Sorted(slices.Values(names)), " ")
}

// compareDocument compares what the transcript of a single round says about the published rules.
func compareDocument(t *conform.Tally, d *documentResult, s *blockbattle.State, in *inputs) {
	why := switches(s, in)
	conform.Same(t, "document differs", d.differs, why != nil)
	if !d.differs {
		return
	}
	if d.Why != nil {
		conform.Same(t, "document why", sorted(d.Why), sorted(why))
	}
	_, p := under(blockbattle.Document, s, in)
	d.Winner.compare(t, "document winner", p.winner)
	for i := range d.P {
		p.compare(t, i, "document "+player(i)+" ", &d.P[i])
	}
}
