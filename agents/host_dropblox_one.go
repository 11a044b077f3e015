package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"blockyard/agents/dropbloxcontest"
	"blockyard/agents/dropbloxcontest/history"
	"blockyard/agents/dropbloxcontest/programs"
	"blockyard/datasets/record"
)

// defaultProgram is what the original client plays with.
var defaultProgram = map[bool]string{true: "dropblox_ai.bat", false: "dropblox_ai"}[runtime.GOOS == "windows"]

// local plays one game dealt here.
func (c *hostDropbloxCmd) local(ctx context.Context, con *console, bot *programs.Program) error {
	seed := c.Seeds[0]
	if c.Seed == "" {
		fmt.Fprintln(con.out, "Seed:", seed)
	}
	w, err := c.openRecord()
	if err != nil {
		return err
	}
	defer w.Discard()
	table, err := dropbloxcontest.NewLocal(seed, c.clock())
	if err != nil {
		return usage{err}
	}
	f, err := c.folder("history", history.Meta{ID: "0", Seed: seed, Program: bot.Name, Mode: "local", Started: table.Began})
	if err != nil {
		return err
	}
	rec, err := dropbloxcontest.Record(table, seed, "exec:"+bot.Name)
	if err != nil {
		return err
	}
	p := dropbloxcontest.Player{Program: bot, Table: table, History: f, Turns: c.Turns, Margin: dropbloxcontest.Margin}
	r, err := c.show(ctx, con, &p)
	if w != nil {
		kept, e := rec.End(r.Reason)
		if e == nil {
			e = w.Write(kept)
		}
		if e == nil {
			e = w.Close()
		}
		err = errors.Join(err, e)
	}
	return err
}

// openRecord opens the file of records; nil if none is wanted.
func (c *hostDropbloxCmd) openRecord() (*recordFile, error) {
	if c.Record == "" {
		return nil, nil
	}
	w, err := record.Create(c.Record)
	return &recordFile{w}, err
}

// A recordFile is a record.Writer that may be missing.
type recordFile struct{ *record.Writer }

// Discard removes what was written unless it was closed.
func (f *recordFile) Discard() {
	if f != nil && f.Writer != nil {
		f.Writer.Discard()
	}
}

// contest plays one game of a contest's server.
func (c *hostDropbloxCmd) contest(ctx context.Context, con *console, bot *programs.Program) error {
	who, err := dropbloxcontest.ReadConfig(c.Config)
	if err != nil {
		return usage{err}
	}
	server := dropbloxcontest.NewContest(c.Server, who)
	var table *dropbloxcontest.Remote
	if c.Mode == "practice" {
		table, err = server.Practice(ctx)
	} else {
		table, err = server.Compete(ctx, func() { fmt.Fprintln(con.out, "waiting for the competition to begin") })
	}
	if err != nil {
		return err
	}
	fmt.Fprintln(con.out, "Game:", table.ID)
	f, err := c.folder("history", history.Meta{ID: table.ID, Program: bot.Name, Team: who.Team, Mode: c.Mode, Started: time.Now()})
	if err != nil {
		return err
	}
	_, err = c.show(ctx, con, &dropbloxcontest.Player{Program: bot, Table: table, History: f, Margin: dropbloxcontest.Margin})
	return err
}

// show plays a game with everything said on the console.
func (c *hostDropbloxCmd) show(ctx context.Context, con *console, p *dropbloxcontest.Player) (dropbloxcontest.Result, error) {
	p.Program.Errors = con.err
	p.Console = &dropbloxcontest.Console{W: con.out, Colour: terminal(con.out)}
	r, err := p.Play(ctx)
	if r.Reason == dropbloxcontest.Stopped {
		return r, fmt.Errorf("stopped after %d turns with %d points", r.Turns, r.Score)
	}
	if err != nil {
		return r, err
	}
	p.Console.Results(r)
	return r, nil
}
