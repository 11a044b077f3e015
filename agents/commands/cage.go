package commands

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"blockyard/agents/contest"
	"blockyard/agents/contest/cage"
	"blockyard/datasets/program"
	"blockyard/datasets/program/disk"
	"blockyard/env/ansi"
)

// The exit statuses of agents cage that are not the command's, as those of timeout(1).
const (
	cageLate  = 124 // it ran past --time
	cageFails = 125 // the cage could not be made
	cageEnds  = 126 // it took too much of something else
)

// A cageCmd is the command line of agents cage.
type cageCmd struct {
	Command   []string      `arg:"" passthrough:"" help:"The command and its arguments, behind --."`
	Folder    string        `type:"existingdir" placeholder:"DIR" help:"Begin in a copy of this folder."`
	Read      []string      `type:"path" sep:"none" placeholder:"PATH" help:"A file or folder to read; repeatable."`
	Write     []string      `type:"existingdir" sep:"none" placeholder:"DIR" help:"A folder to write; repeatable."`
	Env       []string      `sep:"none" placeholder:"NAME=VALUE" help:"A variable for it; repeatable."`
	Time      time.Duration `placeholder:"TIME" help:"Wall-clock time, such as 10s. By default, no limit."`
	CPU       time.Duration `name:"cpu" placeholder:"TIME" help:"Processor time of all. By default, no limit."`
	Memory    int           `default:"1024" placeholder:"MIB" help:"Memory of all its processes."`
	Disk      int           `default:"256" placeholder:"MIB" help:"Space for its working folder and temporary files."`
	Files     int           `default:"10000" placeholder:"N" help:"Number of these files."`
	Processes int           `default:"512" placeholder:"N" help:"Processes and threads together."`
	Output    int           `default:"64" placeholder:"MIB" help:"Standard output, and standard error; more ends it."`
	JSON      string        `type:"path" placeholder:"FILE" help:"Write what it used, and what ended it, as JSON."`
	Isolate   cage.Mode     `enum:"auto,require" default:"auto" help:"With require, refuse to run if a wall is missing."`
}

// A cageReport says what became of a command. Times are in seconds, memory is in bytes.
type cageReport struct {
	Status  int      `json:"status"` // of the command, or 128 and the number of the signal that ended it
	Ended   string   `json:"ended"`  // by: itself, time, cpu, memory, processes, disk, output or interrupt
	Why     string   `json:"why,omitempty"`
	Wall    float64  `json:"wall_s"`
	CPU     float64  `json:"cpu_s"`
	Memory  int64    `json:"memory_peak"` // as far as it was seen: 0 for a small program that ends at once
	Threads int      `json:"threads_peak"`
	Output  int64    `json:"output_bytes"`
	Missing []string `json:"missing_walls"`
}

func (c *cageCmd) Run(ctx context.Context, con *console) error {
	if len(c.Command) > 0 && c.Command[0] == "--" {
		c.Command = c.Command[1:]
	}
	if len(c.Command) == 0 {
		return program.Usage(errors.New("no command: want one behind --, such as agents cage -- python3 bot.py"))
	}
	for name, n := range map[string]int{"memory": c.Memory, "disk": c.Disk, "files": c.Files, "processes": c.Processes,
		"output": c.Output} {
		if n < 1 {
			return program.Usage(fmt.Errorf("--%s %d: want at least 1", name, n))
		}
	}
	if err := c.Isolate.Check(); err != nil {
		return program.Usage(err)
	}
	report, err := c.contain(ctx, con)
	if err != nil {
		fmt.Fprintf(con.Err, "%s cage: %v\n", program.Called("agents"), err)
		return program.Status(cageFails)
	}
	if report.Ended != "itself" {
		fmt.Fprintf(con.Err, "%s cage: ended: %s\n", program.Called("agents"), report.Why)
	}
	if c.JSON != "" {
		if err := disk.WriteJSON(c.JSON, report); err != nil {
			return err
		}
	}
	return status(report)
}

// status is the exit status for a report, nil for 0.
func status(r *cageReport) error {
	n := map[string]int{"itself": r.Status, "time": cageLate, "cpu": cageLate, "interrupt": 130}
	if code, ok := n[r.Ended]; !ok {
		return program.Status(cageEnds)
	} else if code != 0 {
		return program.Status(code)
	}
	return nil
}

// cage is the cage that the flags ask for.
func (c *cageCmd) cage() (*cage.Cage, error) {
	here, err := filepath.Abs(cmp.Or(c.Folder, "."))
	if err != nil {
		return nil, err
	}
	in := &cage.Cage{Also: here, Read: c.Read, Write: c.Write, Env: c.Env}
	in.Limits = cage.Limits{Disk: int64(c.Disk) << 20, Files: c.Files, Threads: c.Processes, CPU: c.CPU}
	in.Limits.Open = cage.Compiler.Open
	if c.Folder != "" {
		in.Files = here
	}
	for _, path := range slices.Concat(c.Read, c.Write) {
		if rest, err := filepath.Rel(here, path); err == nil && filepath.IsLocal(rest) && c.Folder != "" {
			return nil, fmt.Errorf("%s lies in --folder %s, which is copied: name one of them only", path, c.Folder)
		}
	}
	return in, nil
}

// A caged is a command that runs.
type caged struct {
	ends  chan [2]string // by what it is ended, and why; the first counts
	wrote atomic.Int64   // bytes of its outputs
}

func (r *caged) end(by, why string) {
	select {
	case r.ends <- [2]string{by, why}:
	default: // something else was first
	}
}

// pass returns what passes on one of its outputs, at most so many MiB.
func (r *caged) pass(to io.Writer, most int) func(from io.Reader) {
	if !program.Terminal(to) { // a file gets all bytes as they are
		to = ansi.Styled(to)
	}
	return func(from io.Reader) {
		n, _ := io.CopyN(to, from, int64(most)<<20)
		r.wrote.Add(n)
		if more, _ := io.CopyN(io.Discard, from, 1); more > 0 {
			r.end("output", fmt.Sprintf("it has written more than %d MiB", most))
			_, _ = io.Copy(io.Discard, from)
		}
	}
}

// contain runs the command to its end.
func (c *cageCmd) contain(ctx context.Context, con *console) (*cageReport, error) {
	in, err := c.cage()
	if err != nil {
		return nil, err
	}
	r, run := &cageReport{Ended: "itself", Missing: cage.Missing()}, &caged{ends: make(chan [2]string, 1)}
	spec := contest.Spec{Argv: c.Command, Cage: in, Memory: int64(c.Memory) << 20,
		Stdout: run.pass(con.Out, c.Output), Stderr: run.pass(con.Err, c.Output),
		Excess: func(why string) { run.end("", why) }, Input: true}
	began := time.Now()
	child, err := contest.StartChild(spec)
	if err != nil {
		return nil, err
	}
	go func() { // a pipe: it could write to the file or terminal itself
		_, _ = io.Copy(child.In, con.In)
		child.In.Close()
	}()
	var clock <-chan time.Time
	if c.Time > 0 {
		clock = time.After(c.Time)
	}
	select {
	case <-child.Exited():
	case e := <-run.ends:
		r.Ended, r.Why = e[0], e[1]
	case <-clock:
		r.Ended, r.Why = "time", fmt.Sprintf("it runs longer than %v", c.Time)
	case <-ctx.Done():
		r.Ended, r.Why = "interrupt", "interrupted"
	}
	r.Wall = time.Since(began).Seconds()
	exit := new(exec.ExitError)
	if err := child.Kill(); errors.As(err, &exit) {
		r.Status = exit.ExitCode()
	} else if err != nil {
		return nil, err
	}
	select {
	case e := <-run.ends: // the watch ends a program itself
		r.Ended, r.Why = e[0], e[1]
	default:
	}
	r.Output = run.wrote.Load()
	c.account(r, child)
	return r, nil
}

// account notes what a command that has ended took, and which limit that was, if one has ended it.
func (c *cageCmd) account(r *cageReport, child *contest.Child) {
	peak := child.Peak()
	r.CPU, r.Memory, r.Threads = max(child.CPU(), peak.CPU).Seconds(), peak.Memory, peak.Threads
	switch {
	case r.Ended != "":
	case c.CPU > 0 && peak.CPU > c.CPU:
		r.Ended = "cpu"
	case peak.Memory > int64(c.Memory)<<20:
		r.Ended = "memory"
	case peak.Threads > c.Processes:
		r.Ended = "processes"
	default:
		r.Ended = "disk"
	}
}
