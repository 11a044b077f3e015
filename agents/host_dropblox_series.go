package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"blockyard/agents/dropbloxcontest"
	"blockyard/agents/dropbloxcontest/history"
	"blockyard/agents/dropbloxcontest/programs"
)

// A dropbloxSeries is a tournament: every program plays every seed.
type dropbloxSeries struct {
	*hostDropbloxCmd
	bots []*programs.Program

	mu      sync.Mutex
	record  *recordFile
	kept    int
	results [][]*dropbloxGame // [seed][bot]; nil where it was not played to its end
	played  int
	told    func(text string, games int) // progress; may be nil
	err     error
}

// A dropbloxGame is one program's game of one seed.
type dropbloxGame struct {
	Seed   string                 `json:"seed"`
	Bot    int                    `json:"bot"`
	Score  int                    `json:"score"`
	Turns  int                    `json:"turns"`
	Reason dropbloxcontest.Reason `json:"reason"`
	Fault  string                 `json:"fault,omitempty"` // why it failed
	MeanMS float64                `json:"mean_ms"`         // a turn
	MostMS float64                `json:"longest_ms"`
	used   time.Duration
}

// tournament plays all games and prints what they came to.
func (c *hostDropbloxCmd) tournament(ctx context.Context, con *console, bots []*programs.Program) error {
	s := &dropbloxSeries{hostDropbloxCmd: c, bots: bots, results: make([][]*dropbloxGame, len(c.Seeds))}
	for i := range s.results {
		s.results[i] = make([]*dropbloxGame, len(bots))
	}
	if c.Log != "" {
		if err := os.MkdirAll(c.Log, 0o755); err != nil {
			return err
		}
	}
	var err error
	if s.record, err = c.openRecord(); err != nil {
		return err
	}
	defer s.record.Discard()
	if !c.Quiet && !c.JSON && terminal(con.err) {
		bar := newBar(con.err, len(c.Seeds)*len(bots), "games")
		s.told = func(text string, games int) {
			bar.Describe(text)
			_ = bar.Set(games)
		}
		defer func() { _ = bar.Finish() }()
	}
	s.play(ctx)
	if s.record != nil && s.err == nil && (s.kept > 0 || ctx.Err() == nil) {
		s.err = s.record.Close()
	}
	if s.err != nil {
		return s.err
	}
	return s.summary(ctx.Err() != nil).write(con.out, c.JSON)
}

// play plays the games, seed by seed.
func (s *dropbloxSeries) play(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	jobs := make(chan [2]int)
	var group sync.WaitGroup
	for range s.Workers {
		group.Go(func() {
			for j := range jobs {
				if err := s.game(ctx, j[0], j[1]); err != nil && ctx.Err() == nil {
					s.mu.Lock()
					s.err = errors.Join(s.err, err)
					s.mu.Unlock()
					cancel()
				}
			}
		})
	}
	for i := range s.Seeds {
		for b := range s.bots {
			select {
			case jobs <- [2]int{i, b}:
			case <-ctx.Done():
			}
		}
	}
	close(jobs)
	group.Wait()
}

// game plays seed i with bot b. The error is of ours or of ctx; what is wrong with the
// program goes into the game's result.
func (s *dropbloxSeries) game(ctx context.Context, i, b int) (err error) {
	if err := ctx.Err(); err != nil {
		return err
	}
	name := fmt.Sprintf("%s%d", letter(b), i+1)
	log, err := s.openLog(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, log.close()) }()
	bot := *s.bots[b]
	bot.Errors = log.errors()
	table, err := dropbloxcontest.NewLocal(s.Seeds[i], s.clock())
	if err != nil {
		return err
	}
	f, err := s.folder("", history.Meta{ID: name, Seed: s.Seeds[i], Program: bot.Name, Mode: "local", Started: table.Began})
	if err != nil {
		return err
	}
	rec, err := dropbloxcontest.Record(table, s.Seeds[i], "exec:"+bot.Name)
	if err != nil {
		return err
	}
	p := dropbloxcontest.Player{Program: &bot, Table: table, History: f, Console: log.console(), Turns: s.Turns, Margin: dropbloxcontest.Margin}
	p.Each = func(r dropbloxcontest.Result) {
		s.tell(fmt.Sprintf("%s, seed %.12s: turn %d, %d points", letter(b), s.Seeds[i], r.Turns, r.Score), 0)
	}
	r, err := p.Play(ctx)
	if err == nil {
		p.Console.Results(r)
	}
	if e := s.keep(rec, r.Reason); e != nil {
		return e
	}
	if err != nil && r.Reason != dropbloxcontest.Failed {
		return err
	}
	g := &dropbloxGame{Seed: s.Seeds[i], Bot: b, Score: r.Score, Turns: r.Turns, Reason: r.Reason, used: r.Used}
	if err != nil {
		g.Fault = err.Error()
	}
	g.MeanMS, g.MostMS = meanMS(r.Used, r.Turns), r.Longest.Seconds()*1000
	s.mu.Lock()
	s.results[i][b] = g
	s.mu.Unlock()
	s.tell(fmt.Sprintf("%s, seed %.12s: %d points", letter(b), s.Seeds[i], r.Score), 1)
	return nil
}

// tell shows progress: so many more games are over.
func (s *dropbloxSeries) tell(text string, games int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.played += games; s.told != nil {
		s.told(text, s.played)
	}
}

// keep records a game, the one that was broken off included.
func (s *dropbloxSeries) keep(rec *dropbloxcontest.Recorder, reason dropbloxcontest.Reason) error {
	if s.record == nil {
		return nil
	}
	kept, err := rec.End(reason)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kept++
	return s.record.Write(kept)
}

// letter names the b-th program.
func letter(b int) string {
	if b < 26 {
		return string(rune('A' + b))
	}
	return letter(b/26-1) + letter(b%26)
}

// A dropbloxLog is the file of what was said in one game; the zero one keeps nothing.
type dropbloxLog struct{ file *os.File }

func (s *dropbloxSeries) openLog(name string) (l dropbloxLog, err error) {
	if s.Log != "" {
		l.file, err = os.Create(filepath.Join(s.Log, name+".log"))
	}
	return l, err
}
