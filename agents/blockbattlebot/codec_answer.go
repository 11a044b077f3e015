package blockbattlebot

import (
	"fmt"
	"sort"
	"strings"

	"blockyard/env"
	"blockyard/env/blockbattle"
)

// An answer is a bot's line and what the rules make of it (rules §4.3, §4.4).
type answer struct {
	land    blockbattle.Landing
	remarks []string
}

// Judge reads seat's answer line in position s, which stays as it is: the action it comes
// to, and what is odd about it.
func Judge(d Dialect, s *blockbattle.State, seat int, line string) (a env.Action, remarks []string) {
	got := readAnswer(d, s, seat, line)
	return blockbattle.ActionOf(got.land), got.remarks
}

// readAnswer plays a line on seat's board, which stays as it is.
func readAnswer(d Dialect, s *blockbattle.State, seat int, line string) answer {
	var a answer
	var buf [blockbattle.MaxTokens]blockbattle.Token
	tokens, odd := buf[:0], []string(nil)
	if d == PortDialect {
		tokens, odd = blockbattle.ParsePortAnswer(line, tokens)
	} else {
		tokens, odd = blockbattle.ParseAnswer(line, tokens)
	}
	for _, part := range odd {
		if part == "" {
			a.remark("an empty part ends the answer")
		} else {
			a.remark("unknown token %s", shortened(part))
		}
	}
	if d == PortDialect && len(odd) > 0 {
		a.remark("the whole answer is void")
	}
	if d == ClassicDialect && len(odd) < blockbattle.MaxTokens && parts(line) > blockbattle.MaxTokens && !blank(odd) {
		a.remark("more than %d tokens: the rest is not read", blockbattle.MaxTokens)
	}
	side := &s.Sides[seat]
	a.land, _ = blockbattle.Execute(side, int(s.Piece), tokens, s.Rules)
	used := executed(side, int(s.Piece), tokens, s.Rules)
	switch {
	case used > 0 && tokens[used-1] == blockbattle.Skip && !a.land.Skipped:
		a.remark("skip, with none in stock")
	case used < len(tokens) && !a.land.Skipped:
		a.remark("the piece has come to rest: the rest of the tokens is not played")
	case a.land.Loose:
		a.remark("the piece was left in the air: it falls")
	}
	return a
}

func (a *answer) remark(format string, args ...interface{}) {
	a.remarks = append(a.remarks, fmt.Sprintf(format, args...))
}

func shortened(part string) string {
	if len(part) > 40 {
		return fmt.Sprintf("%.40q…", part)
	}
	return fmt.Sprintf("%q", part)
}

// parts counts the parts of an answer line, empty ones at its end left out.
func parts(line string) int { return strings.Count(strings.TrimRight(line, ","), ",") + 1 }

func blank(odd []string) bool { return len(odd) > 0 && odd[len(odd)-1] == "" }

// executed is how many of tokens are played before the piece rests or a skip ends the
// answer. That a piece is still free is seen from a skip, which then is granted.
func executed(side *blockbattle.Side, piece int, tokens []blockbattle.Token, rules blockbattle.Rules) int {
	probe := *side
	probe.Skips = 1
	skip := 0
	for skip < len(tokens) && tokens[skip] != blockbattle.Skip {
		skip++
	}
	rested := sort.Search(skip, func(i int) bool {
		try := append(append([]blockbattle.Token(nil), tokens[:i+1]...), blockbattle.Skip)
		land, _ := blockbattle.Execute(&probe, piece, try, rules)
		return !land.Skipped
	})
	if rested < len(tokens) {
		rested++
	}
	return rested
}
