package blockbattlelog

import (
	"fmt"
	"slices"
	"strings"

	"blockyard/datasets/conform"
	"blockyard/env/blockbattle"
)

// checkSettings compares the settings, whose order is the dialect's.
func (d *dialogue) checkSettings(t *conform.Tally) {
	names := d.names()
	players := "settings player_names " + names[0] + "," + names[1]
	me := "settings your_bot " + names[d.me]
	bank := fmt.Sprintf("settings timebank %d", d.bank)
	perMove := fmt.Sprintf("settings time_per_move %d", d.perMove)
	width, height := "settings field_width 10", "settings field_height 20"
	want, got := []string{bank, perMove, players, me, width, height}, d.settings
	if d.port {
		want = []string{players, me, bank, perMove, height, width}
		got = slices.DeleteFunc(got, func(line string) bool { // sent only if there is a limit
			return strings.HasPrefix(line, "settings max_rounds ")
		})
	}
	t.At("log of %s, settings", d.name)
	sameLines(t, got, want)
}

// expect returns the lines of a turn that our side would send, in the dialect's order.
func (d *dialogue) expect(s *blockbattle.State, time int) []string {
	piece := int(s.Piece)
	out := []string{
		fmt.Sprintf("update game round %d", s.Round),
		fmt.Sprintf("update game this_piece_type %c", blockbattle.Letters[piece]),
		fmt.Sprintf("update game next_piece_type %c", blockbattle.Letters[s.Next]),
		fmt.Sprintf("update game this_piece_position %d,-1", blockbattle.SpawnX(piece)),
	}
	about := func(name string, side *blockbattle.Side, keys ...string) {
		values := map[string]any{"row_points": side.Points, "combo": side.Combo, "skips": side.Skips,
			"field": commas(field(side, piece))}
		for _, key := range keys {
			out = append(out, fmt.Sprintf("update %s %s %v", name, key, values[key]))
		}
	}
	names := d.names()
	if d.port { // the port sends the receiver's own values for both players
		for _, name := range names {
			about(name, &s.Sides[d.me], "row_points", "combo", "skips", "field")
		}
		return append(out, fmt.Sprintf("action move %d", time))
	}
	about(names[d.me], &s.Sides[d.me], "row_points", "combo", "skips", "field")
	about(names[1-d.me], &s.Sides[1-d.me], "field", "row_points", "combo", "skips")
	return append(out, fmt.Sprintf("action moves %d", time))
}

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
