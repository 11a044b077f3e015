package commands

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
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

type cageCmd struct {
	Command   []string      `arg:"" passthrough:"" help:"The command and its arguments, behind --."`
	Folder    string        `type:"existingdir" placeholder:"DIR" help:"The command begins in a copy of this folder, which goes with it. By default, in an empty folder."`
	Read      []string      `type:"path" sep:"none" placeholder:"PATH" help:"It may read this file or folder, which has its own path; as often as needed."`
	Write     []string      `type:"existingdir" sep:"none" placeholder:"DIR" help:"It may also write this folder, which has its own path; as often as needed."`
	Env       []string      `sep:"none" placeholder:"NAME=VALUE" help:"A variable for it; as often as needed."`
	Time      time.Duration `placeholder:"TIME" help:"Wall-clock time, such as 10s. By default, no limit."`
	CPU       time.Duration `name:"cpu" placeholder:"TIME" help:"Processor time of all its processes. By default, no limit."`
	Memory    int           `default:"1024" placeholder:"MIB" help:"Memory of all its processes."`
	Disk      int           `default:"256" placeholder:"MIB" help:"Space for its working folder and temporary files."`
	Files     int           `default:"10000" placeholder:"N" help:"Number of these files."`
	Processes int           `default:"512" placeholder:"N" help:"Processes and threads together."`
	Output    int           `default:"64" placeholder:"MIB" help:"Standard output and standard error, each; the rest is discarded and ends the command."`
	JSON      string        `type:"path" placeholder:"FILE" help:"Write what it used, and what ended it, as JSON."`
	Isolate   cage.Mode     `enum:"auto,require" default:"auto" help:"Use the walls that this machine has (auto), or refuse to run without all of them (require)."`
}

// A cageReport says what became of a command. Times are in seconds, memory is in bytes.
type cageReport struct {
	Status  int      `json:"status"` // of the command, or 128 and the number of the signal that ended it
	Ended   string   `json:"ended"`  // by: itself, time, cpu, memory, processes, disk, output or interrupt
	Why     string   `json:"why,omitempty"`
	Wall    float64  `json:"wall_s"`
	CPU     float64  `json:"cpu_s"`
	Memory  int64    `json:"memory_peak"` // as far as it was seen: 0 for a small program that ends within a tenth of a second
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

// contain runs the command to its end.
func (c *cageCmd) contain(ctx context.Context, con *console) (*cageReport, error) {
	here, err := filepath.Abs(cmp.Or(c.Folder, "."))
	if err != nil {
		return nil, err
	}
	in := &cage.Cage{Also: here, Read: c.Read, Write: c.Write, Env: c.Env, Limits: cage.Limits{Disk: int64(c.Disk) << 20, Files: c.Files,
		Threads: c.Processes, Open: cage.Compiler.Open, CPU: c.CPU}}
	if c.Folder != "" {
		in.Files = here
	}
	for _, path := range slices.Concat(c.Read, c.Write) {
		if rest, err := filepath.Rel(here, path); err == nil && filepath.IsLocal(rest) && c.Folder != "" {
			return nil, fmt.Errorf("%s lies in --folder %s, which is copied: name one of them only", path, c.Folder)
		}
	}
	r := &cageReport{Ended: "itself", Missing: cage.Missing()}
	ends := make(chan [2]string, 4)
	end := func(by, why string) {
		select {
		case ends <- [2]string{by, why}:
		default: // something else was first
		}
	}
	var wrote atomic.Int64
	pass := func(to io.Writer) func(from io.Reader) {
		if !program.Terminal(to) { // a file gets all bytes as they are
			to = ansi.Styled(to)
		}
		return func(from io.Reader) {
			n, _ := io.CopyN(to, from, int64(c.Output)<<20)
			wrote.Add(n)
			if more, _ := io.CopyN(io.Discard, from, 1); more > 0 {
				end("output", fmt.Sprintf("it has written more than %d MiB", c.Output))
				_, _ = io.Copy(io.Discard, from)
			}
		}
	}
	spec := contest.Spec{Argv: c.Command, Cage: in, Memory: int64(c.Memory) << 20, Stdout: pass(con.Out), Stderr: pass(con.Err),
		Excess: func(why string) { end("", why) }}
	if file, ok := con.In.(*os.File); ok {
		spec.Stdin = file
	}
	began := time.Now()
	child, err := contest.StartChild(spec)
	if err != nil {
		return nil, err
	}
	clock := make(<-chan time.Time)
	if c.Time > 0 {
		clock = time.After(c.Time)
	}
	select {
	case <-child.Exited():
	case e := <-ends:
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
	case e := <-ends: // the watch ends a program itself
		r.Ended, r.Why = e[0], e[1]
	default:
	}
	peak := child.Peak()
	r.CPU, r.Output = child.CPU().Seconds(), wrote.Load()
	r.Memory, r.Threads = peak.Memory, peak.Threads
	switch {
	case r.Ended != "":
	case c.CPU > 0 && peak.CPU > c.CPU:
		r.Ended, r.CPU = "cpu", max(r.CPU, peak.CPU.Seconds())
	case peak.Memory > spec.Memory:
		r.Ended = "memory"
	case peak.Threads > c.Processes:
		r.Ended = "processes"
	default:
		r.Ended = "disk"
	}
	return r, nil
}
