// Package compile makes programs of what the authors of bots hand in: an archive (.zip, .tar.gz, .tgz), a single source
// file, or a folder. The language follows from the names of the files. Compilers run with limits on time, memory
// and output; what they say is for the author.
package compile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"blockyard/agents/contest"
	"blockyard/agents/contest/cage"
)

// Limits bound a submission and its compilers.
type Limits struct {
	Size   int64         // bytes of a submission, and of all its files when unpacked
	Files  int           // number of its files
	Time   time.Duration // for all compilers together
	Memory int64         // bytes, of a compiler; 0 is no limit
	Open   bool          // compilers and what they make are not contained
}

// Default are the limits that are used if nothing else is said.
var Default = Limits{Size: 32 << 20, Files: 1000, Time: 2 * time.Minute, Memory: 2 << 30}

// A Refusal is what is wrong with a submission: its author can mend it.
type Refusal struct {
	Why    string // one line
	Output string // what the compiler said
}

func (r *Refusal) Error() string { return r.Why }

func refuse(format string, args ...any) error { return &Refusal{Why: fmt.Sprintf(format, args...)} }

// A Bot is a submission that is ready to play.
type Bot struct {
	Language string
	Program  contest.Program
}

// Is reports whether path looks like a submission rather than a program to run: a folder, an archive, or a source file.
func Is(path string) bool {
	info, err := os.Stat(path)
	return err == nil && (info.IsDir() || archive(path) || languageOf(path) != nil)
}

// archive reports whether a file is an archive, by its name.
func archive(path string) bool {
	for _, ending := range []string{".zip", ".tar.gz", ".tgz"} {
		if strings.HasSuffix(strings.ToLower(path), ending) {
			return true
		}
	}
	return false
}

// Name is what a submission is called: its file's name without the ending.
func Name(path string) string {
	name := filepath.Base(path)
	for _, ending := range []string{".tar.gz", filepath.Ext(name)} {
		if short := strings.TrimSuffix(name, ending); short != "" {
			name = short
		}
	}
	return name
}

// Submission unpacks a submission into the folder into, which must be empty or missing, and compiles it there. The
// error is a *Refusal if the author has to mend something.
func Submission(ctx context.Context, path, into string, l Limits) (Bot, error) {
	into, err := filepath.Abs(into)
	if err != nil {
		return Bot{}, err
	}
	if err := os.MkdirAll(into, 0o755); err != nil {
		return Bot{}, err
	}
	if err := unpack(path, into, l); err != nil {
		return Bot{}, err
	}
	root, err := sourceRoot(into)
	if err != nil {
		return Bot{}, err
	}
	language, files, err := detect(root)
	if err != nil {
		return Bot{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, l.Time)
	defer cancel()
	c := &compiler{ctx: ctx, dir: root, limits: l}
	contained := !l.Open && cage.Possible()
	if contained {
		c.cage = &cage.Cage{Own: root, Limits: cage.Compiler}
	}
	argv, err := language.build(c, files)
	if err != nil {
		return Bot{Language: language.name}, err
	}
	bot := Bot{language.name, contest.Program{Argv: argv, Dir: root}}
	if contained {
		bot.Program.Cage = &cage.Cage{Own: root, Limits: cage.Bot}
	}
	return bot, nil
}

// sourceRoot is the folder of the sources: an archive often holds a single folder.
func sourceRoot(dir string) (string, error) {
	list, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	if len(list) == 1 && list[0].IsDir() {
		return sourceRoot(filepath.Join(dir, list[0].Name()))
	}
	return dir, nil
}

// A compiler runs the tools of a language in a submission's folder.
type compiler struct {
	ctx    context.Context
	dir    string
	limits Limits
	cage   *cage.Cage // nil for none
}

// maxOutput is how much of a tool's output is kept.
const maxOutput = 64 << 10

// run runs a tool. The error is a *Refusal if the tool fails or takes too long.
func (c *compiler) run(argv ...string) error {
	var out bytes.Buffer
	keep := contest.PassOn(&out, maxOutput)
	var excess error
	spec := contest.Spec{
		Argv: argv, Dir: c.dir, Memory: c.limits.Memory, Isolate: true, Stderr: keep,
		Stdout: func(r io.Reader) { _, _ = io.Copy(io.Discard, r) },
		Excess: func(why string) { excess = errors.New(why) },
	}
	if c.cage != nil {
		spec.Cage = c.cage
	}
	child, err := contest.StartChild(spec)
	if err != nil {
		return refuse("%s does not start here: %v", argv[0], err)
	}
	select {
	case <-child.Exited():
	case <-c.ctx.Done():
	}
	late := c.ctx.Err()
	err = child.Kill()
	switch {
	case errors.Is(late, context.DeadlineExceeded):
		err = fmt.Errorf("it takes more than %v", c.limits.Time)
	case late != nil:
		return late
	case excess != nil:
		err = excess
	case err == nil:
		return nil
	}
	tool := filepath.Base(argv[0])
	text := strings.TrimSpace(out.String())
	why := fmt.Sprintf("does not compile: %s: %v", tool, err)
	if first, _, _ := strings.Cut(text, "\n"); first != "" {
		why = fmt.Sprintf("does not compile: %s: %s", tool, first)
	}
	return &Refusal{Why: why, Output: text}
}
