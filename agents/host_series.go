package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"blockyard/agents/blockbattlebot"
	"blockyard/agents/contest"
	"blockyard/datasets/record"
	"blockyard/env"
	"blockyard/env/blockbattle"
)

// A series is a match between two programs.
type series struct {
	rules    *env.Game
	dialect  blockbattlebot.Dialect
	limits   contest.Limits
	bots     [2]hosted
	seed     uint64
	games    int
	logDir   string
	errors   io.Writer // gets the bots' standard error; may be nil
	record   *record.Writer
	kept     int // games written to record
	progress func(games int)
	results  []hostedGame
}

// A hostedGame is one game of a series. Its arrays are by seat.
type hostedGame struct {
	Bots    [2]int // index in series.bots
	Winner  int    // seat, -1 for a draw
	Rounds  int
	Points  [2]int
	Tallies []contest.Tally
}

// play plays the games. The error may be that of ctx; the results are then those of the
// games that ended.
func (s *series) play(ctx context.Context) error {
	for i := 0; i < s.games; i++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := s.game(ctx, i); err != nil {
			return err
		}
		if s.progress != nil {
			s.progress(i + 1)
		}
	}
	return nil
}

// game plays game i, in which bot i%2 has the first seat.
func (s *series) game(ctx context.Context, i int) (err error) {
	out := hostedGame{Bots: [2]int{i % 2, 1 - i%2}, Winner: -1}
	log, err := s.openLog(i)
	if err != nil {
		return err
	}
	defer func() {
		if e := log.close(); err == nil {
			err = e
		}
	}()
	state := s.rules.New(2).(*blockbattle.State)
	state.Reset(s.seedOf(i))
	ref := &blockbattlebot.Referee{Dialect: s.dialect, State: state}
	host := contest.Host{Referee: ref, Limits: s.limits, Log: log.line}
	for seat, b := range out.Bots {
		log.names[seat] = ref.Names()[seat]
		log.notef("%s is %s", log.names[seat], s.bots[b].name)
		p, err := contest.Start(s.bots[b].argv, func(text string) { log.line(contest.Error, seat, text) })
		if err != nil {
			for _, other := range host.Bots {
				_ = other.Close()
			}
			return fmt.Errorf("bot %d: %w", b+1, err)
		}
		host.Bots = append(host.Bots, p)
	}
	rec := record.New(s.rules, s.seedOf(i), []string{"exec:" + s.bots[out.Bots[0]].name, "exec:" + s.bots[out.Bots[1]].name})
	ref.Watch = func(_ *blockbattle.State, m env.Moves) { rec.Add(3, m) }
	out.Tallies, err = host.Play(ctx)
	rec.End(state)
	if e := s.keep(rec); e != nil && err == nil {
		err = e
	}
	if err != nil {
		return err
	}
	out.Winner, out.Rounds = int(state.Winner), int(state.Round)
	out.Points = [2]int{state.Score(0), state.Score(1)}
	s.results = append(s.results, out)
	return nil
}

// keep records a game, the one that was broken off included.
func (s *series) keep(rec *record.Record) error {
	if s.record == nil {
		return nil
	}
	if err := record.Check(s.rules, rec); err != nil {
		return fmt.Errorf("the game as actions: %w", err)
	}
	s.kept++
	return s.record.Write(rec)
}

// A gameLog is the file of what was said in one game.
type gameLog struct {
	names  [env.MaxSeats]string
	errors io.Writer
	mu     sync.Mutex
	file   *os.File
	out    *bufio.Writer
}

func (s *series) openLog(i int) (*gameLog, error) {
	l := &gameLog{errors: s.errors}
	if s.logDir == "" {
		return l, nil
	}
	var err error
	if l.file, err = os.Create(filepath.Join(s.logDir, fmt.Sprintf("game-%03d.log", i+1))); err != nil {
		return nil, err
	}
	l.out = bufio.NewWriter(l.file)
	return l, nil
}

var marks = map[contest.Kind]string{contest.ToBot: "<", contest.FromBot: ">", contest.Error: "!", contest.Remark: "*"}

// line writes one line; it is called from several goroutines.
func (l *gameLog) line(k contest.Kind, seat int, text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if k == contest.Error && l.errors != nil {
		fmt.Fprintf(l.errors, "%s: %s\n", l.names[seat], text)
	}
	switch {
	case l.out == nil:
	case k == contest.Note:
		fmt.Fprintln(l.out, text)
	default:
		fmt.Fprintf(l.out, "%s %s %s\n", l.names[seat], marks[k], text)
	}
}

func (l *gameLog) notef(format string, args ...any) {
	l.line(contest.Note, -1, fmt.Sprintf(format, args...))
}

func (l *gameLog) close() error {
	if l.file == nil {
		return nil
	}
	err := l.out.Flush()
	if e := l.file.Close(); err == nil {
		err = e
	}
	return err
}
