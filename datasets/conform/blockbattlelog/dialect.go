package blockbattlelog

import (
	"fmt"
	"strings"

	"blockyard/datasets/conform"
	"blockyard/env/blockbattle"
)

// checkSettings compares the settings, whose order is the dialect's.
func (d *dialogue) checkSettings(t *conform.Tally) {
	me := d.names()[d.me]
	names := "settings player_names " + strings.Join([]string{d.names()[0], d.names()[1]}, ",")
	bank := fmt.Sprintf("settings timebank %d", d.bank)
	perMove := fmt.Sprintf("settings time_per_move %d", d.perMove)
	want := []string{bank, perMove, names, "settings your_bot " + me, "settings field_width 10", "settings field_height 20"}
	got := d.settings
	if d.port {
		want = []string{names, "settings your_bot " + me, bank, perMove, "settings field_height 20", "settings field_width 10"}
		got = nil
		for _, line := range d.settings { // sent only where a limit is set
			if !strings.HasPrefix(line, "settings max_rounds ") {
				got = append(got, line)
			}
		}
	}
	t.At(func() string { return fmt.Sprintf("log of %s, settings", d.name) })
	sameLines(t, got, want)
}

// expect writes the lines of a turn in the dialect's order, from what our side knows.
func (d *dialogue) expect(round, piece, next int, sides *[2]blockbattle.Side, time int) []string {
	if piece < 0 || next < 0 {
		return nil
	}
	out := []string{
		fmt.Sprintf("update game round %d", round),
		fmt.Sprintf("update game this_piece_type %c", blockbattle.Letters[piece]),
		fmt.Sprintf("update game next_piece_type %c", blockbattle.Letters[next]),
		fmt.Sprintf("update game this_piece_position %d,-1", corner(piece)),
	}
	about := func(name string, side *blockbattle.Side, keys ...string) {
		for _, key := range keys {
			value := ""
			switch key {
			case "row_points":
				value = fmt.Sprint(side.Points)
			case "combo":
				value = fmt.Sprint(side.Combo)
			case "skips":
				value = fmt.Sprint(side.Skips)
			case "field":
				value = commas(field(side, piece))
			}
			out = append(out, "update "+name+" "+key+" "+value)
		}
	}
	names := d.names()
	if d.port { // both under the receiver's own values: so did the port
		for _, name := range names {
			about(name, &sides[d.me], "row_points", "combo", "skips", "field")
		}
		return append(out, fmt.Sprintf("action move %d", time))
	}
	about(names[d.me], &sides[d.me], "row_points", "combo", "skips", "field")
	about(names[1-d.me], &sides[1-d.me], "field", "row_points", "combo", "skips")
	return append(out, fmt.Sprintf("action moves %d", time))
}

// sameLines compares lines one by one.
func sameLines(t *conform.Tally, recorded, ours []string) {
	for i := range max(len(recorded), len(ours)) {
		a, b := "(no line)", "(no line)"
		if i < len(recorded) {
			a = recorded[i]
		}
		if i < len(ours) {
			b = ours[i]
		}
		conform.Same(t, fmt.Sprintf("line %d", i+1), a, b)
	}
}
