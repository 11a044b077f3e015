package blockbattlebot

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	_ "embed" // for the logs
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"blockyard/agents/contest"
	"blockyard/agents/contest/trial"
	"blockyard/env"
	"blockyard/env/blockbattle"
)

// A Referee conducts one game as contest.Referee. Who is late or answers nonsense plays on: its piece drops.
type Referee struct {
	Dialect blockbattle.Dialect
	State   *blockbattle.State
	Limits  contest.Limits // which the bots are given
	// Watch, if set, gets the joint move of every round before it is played in State, whose draws it may force.
	Watch func(acting env.Seats, m env.Moves)

	others  map[int]blockbattle.Dialect // of seats whose bots speak another one
	greeted [2]bool
	lands   [2]blockbattle.Landing
	report  blockbattle.Report
}

// Names implements contest.Referee, as the dialect calls the players.
func (r *Referee) Names() []string { return r.Dialect.Names() }

// Round implements contest.Referee: player 1 is asked first, but neither learns the other's answer.
func (r *Referee) Round() (title string, seats []int) {
	if !r.State.Over {
		return fmt.Sprintf("Turn %d, round %d", r.State.Round-1, r.State.Round), []int{0, 1}
	}
	title = "Game over:"
	for _, l := range r.report.Losses {
		title += fmt.Sprintf(" %s lost by %s,", r.Names()[l.Seat], l.Phase)
	}
	if w := r.State.Winner; w != blockbattle.Nobody {
		return title + fmt.Sprintf(" %s wins", r.Names()[w]), nil
	}
	return title + " a draw", nil
}

// Speak implements contest.Linguist. The names of the seats in the log stay those of Dialect.
func (r *Referee) Speak(seat int, dialect string) error {
	d, err := dialectOf(dialect)
	if r.others == nil {
		r.others = map[int]blockbattle.Dialect{}
	}
	r.others[seat] = d
	return err
}

func (r *Referee) dialect(seat int) blockbattle.Dialect {
	if d, ok := r.others[seat]; ok {
		return d
	}
	return r.Dialect
}

// Request implements contest.Referee; the first one begins with the settings.
func (r *Referee) Request(seat int, left time.Duration) contest.Request {
	d := r.dialect(seat)
	lines := d.Request(r.State, seat, left.Milliseconds())
	if !r.greeted[seat] {
		r.greeted[seat] = true
		lines = append(d.Settings(seat, r.Limits.Bank.Milliseconds(), r.Limits.PerMove.Milliseconds()), lines...)
	}
	return contest.Request{Lines: lines}
}

// Answer implements contest.Referee. A bot that is late or answers nonsense stays in the game; one that has ended has
// no more moves.
func (r *Referee) Answer(seat int, reply contest.Reply) (remarks []string, out bool) {
	switch reply.Fault {
	case contest.Late:
		remarks = []string{
			fmt.Sprintf("no answer within %d ms: time-out %d", reply.Limit.Milliseconds(), reply.Bank.Timeouts),
		}
		if reply.Ended {
			remarks = append(remarks, "no more time-outs are allowed: the bot is ended")
		}
	case contest.Gone:
		remarks, out = []string{"the bot has ended or closed its output: it has no more moves"}, true
	case contest.TooLong:
		remarks = []string{fmt.Sprintf("the answer is longer than %d bytes: the rest is not read", contest.MaxLine)}
		fallthrough
	case contest.NoFault:
		land, odd := readAnswer(r.dialect(seat), r.State, seat, reply.Line)
		r.lands[seat] = land
		return append(remarks, odd...), false
	}
	r.lands[seat], _ = blockbattle.Execute(&r.State.Sides[seat], int(r.State.Piece), nil, r.State.Rules)
	return remarks, out
}

// Reads implements contest.Reader: an answer with one known token, or with none at all, is a move (rules §4.3).
func (r *Referee) Reads(seat int, line string) bool {
	tokens, odd := parse(r.dialect(seat), line, nil)
	return len(tokens) > 0 || len(odd) == 0
}

// Close implements contest.Referee: it plays the answers of both seats as one round (rules §5.1). It has no remarks.
func (r *Referee) Close() []contest.Comment {
	if r.Watch != nil {
		m := env.NoMoves
		for seat, land := range r.lands {
			m[seat] = blockbattle.ActionOf(land)
		}
		r.Watch(r.State.Acting(), m)
	}
	r.report.Losses = r.report.Losses[:0]
	r.State.Play(&r.lands, &r.report)
	return nil
}

// Outcome implements contest.Referee. Its reason is how the losers lost (rules §7): one word, or both if they differ.
func (r *Referee) Outcome() contest.Outcome {
	var reasons []string
	for _, l := range r.report.Losses {
		if word := l.Phase.String(); !slices.Contains(reasons, word) {
			reasons = append(reasons, word)
		}
	}
	return contest.Outcome{
		Winner: int(r.State.Winner), Reason: strings.Join(reasons, ", "),
		Points: []int{r.State.Score(0), r.State.Score(1)},
	}
}

// Replay sends a bot the lines that contest engines sent to other bots, and requires a flawless legal answer
// to every request within the time that the log shows, or within bank if that is not 0.
func Replay(bank time.Duration) trial.Script {
	return func() (games []trial.Game, err error) {
		all, err := readLogs()
		for _, l := range all {
			games = append(games, func(ctx context.Context, t *trial.Trial) error { return replayLog(ctx, t, l, bank) })
		}
		return games, err
	}
}

func replayLog(ctx context.Context, t *trial.Trial, l protocolLog, bank time.Duration) error {
	bot, err := t.Start()
	if err != nil {
		return err
	}
	defer bot.Close()
	codec := NewCodec(blockbattle.ClassicDialect, nil)
	s := blockbattle.Game.New(2).(*blockbattle.State)
	var lines []string
	for _, written := range l.Lines {
		who, text := written[0], written[1]
		if who != "host" {
			continue
		}
		request := strings.HasPrefix(text, "action ")
		if request && bank > 0 {
			text = fmt.Sprintf("action moves %d", bank.Milliseconds())
		}
		if lines = append(lines, text); !request {
			continue
		}
		turn, err := codec.ReadTurn(bufio.NewReader(strings.NewReader(strings.Join(lines, "\n")+"\n")), s)
		if err != nil {
			return fmt.Errorf("log %s: %w", l.Game, err)
		}
		line, cut, _, err := bot.Ask(ctx, lines, turn.Budget)
		a, odd := Judge(blockbattle.ClassicDialect, s, turn.Seat, line)
		switch {
		case err != nil:
		case cut:
			err = fmt.Errorf("answer %.80q is too long", line)
		case len(odd) > 0:
			err = fmt.Errorf("answer %.80q: %s", line, odd[0])
		case !slices.Contains(s.Legal(turn.Seat, nil), a):
			err = fmt.Errorf("answer %.80q: action %d is not legal", line, a)
		}
		if err != nil {
			return fmt.Errorf("log %s, round %d: %w", l.Game, s.Round, err)
		}
		t.Answered(s, turn.Seat, a)
		lines = lines[:0]
	}
	return bot.Close()
}

// protocolLogs are games of two contest engines, every line in both directions, which tests and replays use.
//
//go:embed logs/protocol_logs.jsonl.gz
var protocolLogs []byte

// A protocolLog is one game as the host and one bot wrote it, line by line.
type protocolLog struct {
	Dialect string      // classic or port
	Game    string      // its name
	Lines   [][2]string `json:"log"` // who wrote each, host (to the bot), bot, or note (the host's own remark); its text
}

func readLogs() (logs []protocolLog, err error) {
	z, err := gzip.NewReader(bytes.NewReader(protocolLogs))
	for d := json.NewDecoder(z); err == nil && d.More(); {
		var l protocolLog
		err = d.Decode(&l)
		logs = append(logs, l)
	}
	if err != nil {
		return nil, fmt.Errorf("protocol logs: %w", err)
	}
	return logs, nil
}
