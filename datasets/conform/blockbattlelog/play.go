package blockbattlelog

import (
	"fmt"
	"slices"
	"strings"

	"blockyard/datasets/conform"
	"blockyard/env"
	"blockyard/env/blockbattle"
)

// A played is a round as our rules play it.
type played struct {
	before  [2]blockbattle.Side
	after   [2]blockbattle.Side
	tokens  [2][]blockbattle.Token
	lands   [2]blockbattle.Landing
	refused [2][]int
	rep     blockbattle.Report
	losses  []blockbattle.Loss // of this round
	spawn   []blockbattle.Loss // of the spawn test that follows
	winner  string             // after this round, before that test
}

// play plays a round of s with the answers, the hole columns of the rows each seat sends
// and the piece that is announced next. Holes are not taken from where rows ought not to
// be sent, nor more of them than a row ought to have.
func play(s *blockbattle.State, outs [2]string, holes [2][][]int, next int) *played {
	var lands [2]blockbattle.Landing
	var words [2][]blockbattle.Token
	var refused [2][]int
	for i := range outs {
		words[i] = tokens(outs[i], s.Rules)
		lands[i], refused[i] = blockbattle.Execute(&s.Sides[i], int(s.Piece), words[i], s.Rules)
	}
	p := settle(s, lands, holes, next)
	p.tokens, p.refused = words, refused
	return p
}

// settle is the rest of a round, from where the pieces landed.
func settle(s *blockbattle.State, lands [2]blockbattle.Landing, holes [2][][]int, next int) *played {
	p := &played{before: s.Sides, lands: lands}
	var rough blockbattle.Report
	trial := *s
	trial.Play(&p.lands, &rough)
	s.Force(draws(&rough, holes, next))
	s.Play(&p.lands, &p.rep)
	p.after = s.Sides
	for _, l := range p.rep.Losses {
		if l.Phase == blockbattle.LostSpawn {
			p.spawn = append(p.spawn, l)
		} else {
			p.losses = append(p.losses, l)
		}
	}
	p.winner = "none"
	if len(p.losses) > 0 {
		p.winner = winnerOf(s)
	}
	return p
}

func tokens(out string, rules blockbattle.Rules) []blockbattle.Token {
	if rules&blockbattle.PortTokens != 0 {
		t, _ := blockbattle.ParsePortAnswer(out, nil)
		return t
	}
	t, _ := blockbattle.ParseAnswer(out, nil)
	return t
}

func winnerOf(s *blockbattle.State) string {
	if s.Winner == blockbattle.Nobody {
		return "none"
	}
	return player(int(s.Winner))
}

// draws are the random outcomes of a round, in the order of the rules: a trial has shown
// which rows are sent.
func draws(trial *blockbattle.Report, holes [2][][]int, next int) []uint16 {
	var out []uint16
	for i := range trial.Sides {
		for n, mask := range trial.Sides[i].Holes {
			var row []int
			if n < len(holes[i]) {
				row = holes[i][n]
			}
			for len(row) < 2 {
				row = append(row, (len(row)+first(row))%blockbattle.Width)
			}
			out = append(out, uint16(row[0]))
			if mask&(mask-1) != 0 {
				out = append(out, uint16((row[1]-row[0]+blockbattle.Width)%blockbattle.Width-1))
			}
		}
	}
	out = append(out, uint16(next))
	return out[:min(len(out), env.MaxDraws)]
}

func first(row []int) int {
	if len(row) == 0 {
		return 0
	}
	return row[0]
}

// compare holds what the transcript says of one player's round against p.
func (p *played) compare(t *conform.Tally, seat int, r *playerRecord) {
	land, rep := &p.lands[seat], &p.rep.Sides[seat]
	var words []string
	for _, tok := range p.tokens[seat] {
		words = append(words, tok.String())
	}
	if r.Parsed != nil {
		conform.Same(t, "parsed", strings.Join(*r.Parsed, ","), strings.Join(words, ","))
	}
	if r.Illegal != nil {
		conform.Same(t, "illegal", fmt.Sprint(*r.Illegal), fmt.Sprint(p.refused[seat]))
	}
	conform.Given(t, "rest", r.Rest, fmt.Sprintf("%d,%d", land.X, land.Y))
	shape := box(land.Piece, land.Rot)
	if land.Skipped {
		shape = strings.ReplaceAll(shape, "1", "0")
	}
	conform.Given(t, "shape", r.Shape, shape)
	conform.Given(t, "tspin", r.TSpin, land.TSpin)
	conform.Given(t, "skipped", r.Skipped, land.Skipped)
	conform.Given(t, "locked", r.Locked, field(&blockbattle.Side{Cells: rep.Locked, Solid: p.before[seat].Solid}, -1))
	conform.Given(t, "rows", r.Rows, rep.Rows)
	conform.Given(t, "cleared", r.Cleared, rep.Cleared)
	conform.Given(t, "gain", r.Gain, rep.Gain)
	conform.Given(t, "lines", r.Lines, rep.Lines)
	conform.Given(t, "first_single", r.FirstSingle, rep.FirstSingle)
	if r.Holes != nil {
		conform.Same(t, "holes", recordedHoles(*r.Holes), replayedHoles(rep.Holes))
	}
	after := &p.after[seat]
	conform.Given(t, "pts", r.Pts, int(after.Points))
	conform.Given(t, "combo", r.Combo, int(after.Combo))
	conform.Given(t, "skips", r.Skips, int(after.Skips))
	conform.Given(t, "end", r.End, field(after, -1))
}

// recordedHoles and replayedHoles are the hole columns of a batch as text, each row's in
// ascending order.
func recordedHoles(rows [][]int) string {
	out := []string{}
	for _, row := range rows {
		out = append(out, fmt.Sprint(slices.Sorted(slices.Values(row))))
	}
	return strings.Join(out, " ")
}

func replayedHoles(masks []uint16) string {
	out := []string{}
	for _, m := range masks {
		var row []int
		for x := range blockbattle.Width {
			if m>>x&1 != 0 {
				row = append(row, x)
			}
		}
		out = append(out, fmt.Sprint(row))
	}
	return strings.Join(out, " ")
}

func lossText(list []blockbattle.Loss) string {
	out := []string{}
	for _, l := range list {
		out = append(out, l.Phase.String()+" "+player(l.Seat))
	}
	return strings.Join(out, ", ")
}

// compareEnd holds what the transcript says of a round's outcome against ours.
func compareEnd(t *conform.Tally, r *roundRecord, losses []blockbattle.Loss, won string) {
	if r.Losses != nil {
		out := []string{}
		for _, l := range *r.Losses {
			out = append(out, l[0]+" "+l[1])
		}
		conform.Same(t, "losses", strings.Join(out, ", "), lossText(losses))
	}
	conform.Given(t, "over", r.Over, len(losses) > 0)
	if r.Winner.given {
		conform.Same(t, "winner", r.Winner.name, won)
	}
}
