// Package compile makes programs of what the authors of bots hand in: an archive (.zip, .tar.gz, .7z and others), a
// single source file, or a folder. agents/SUBMISSIONS.md says for authors how a bot is found, built and started.
//
// All of that happens in one contained process, this program started again (inside.go): it unpacks the submission,
// reads bot.toml, finds the language, and runs compilers. This process only starts it, with limits on time, memory and
// disk, and reads its answer, of bounded size (submission.go): how the bot is started, or what its author has to mend,
// and then the files of the bot, which become its folder. Nothing else of a submission is read here.
package compile

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"blockyard/agents/contest"
	"blockyard/env/ansi"
)

// Limits bound a submission and its build.
type Limits struct {
	Size   int64         // bytes of a submission, and of all its files when unpacked
	Files  int           // number of its files
	Time   time.Duration // for all compilers together
	Memory int64         // bytes, of a compiler; 0 is no limit
	Open   bool          // compilers, and the bots that they make, are not contained
}

// Default are the limits that are used if nothing else is said.
var Default = Limits{Size: 32 << 20, Files: 1000, Time: 2 * time.Minute, Memory: 2 << 30}

// A Refusal is what is wrong with a submission: its author can mend it.
type Refusal struct {
	Why    string // one line
	Output string // what the compiler said
	lost   bool   // the file to start is not found
}

func (r *Refusal) Error() string { return r.Why }

// Page says all that an author has to know: every refusal names it.
const Page = "agents/SUBMISSIONS.md"

func refuse(format string, args ...any) error { return &Refusal{Why: fmt.Sprintf(format, args...)} }

func lost(format string, args ...any) error {
	return &Refusal{Why: fmt.Sprintf(format, args...), lost: true}
}

// A Bot is what became of a submission.
type Bot struct {
	Language string
	Program  contest.Program
}

// Is reports whether path looks like a submission rather than a program to run: a folder, an archive, or a source file.
func Is(path string) bool {
	info, err := os.Stat(path)
	return err == nil && (info.IsDir() || Archive(path) || Source(path))
}

// Source reports whether the name of a file is that of a source file.
func Source(path string) bool { return languageOf(path) != nil }

// Archive reports whether the name of a file is that of an archive.
func Archive(path string) bool {
	return slices.ContainsFunc(archives, func(e string) bool { return strings.HasSuffix(strings.ToLower(path), e) })
}

var archives = []string{".zip", ".jar", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tar.xz", ".txz", ".7z",
	".rar"}

// Name returns the name of a submission: its file's name without the ending.
func Name(path string) string {
	name := filepath.Base(path)
	for _, ending := range append([]string{".tar.gz", ".tar.bz2", ".tar.xz"}, filepath.Ext(name)) {
		if short := strings.TrimSuffix(name, ending); short != "" {
			name = short
		}
	}
	return name
}

func (c *compiler) build() error {
	for _, build := range []func() (bool, error){c.declared, c.uploaded, c.jar} {
		if done, err := build(); done || err != nil {
			return err
		}
	}
	l, files, err := c.detect()
	if c.err = err; err == nil {
		c.language = l.Name
		l.build(c, l, files)
	}
	if why := new(Refusal); errors.As(c.err, &why) && why.lost {
		if script, ok := c.find([]string{"run.sh", "start.sh", "bot.sh"}); ok {
			c.language, c.err = "", nil
			c.script(script)
		}
	}
	return c.err
}

// sourceRoot is the folder of the sources: an archive often holds a single folder.
func sourceRoot(dir string) (string, error) {
	list, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	if len(list) != 1 || !list[0].IsDir() {
		return dir, nil
	}
	inner := filepath.Join(dir, list[0].Name())
	if _, err := os.Stat(filepath.Join(inner, "__init__.py")); err == nil {
		return dir, nil // a package of Python is imported by the name of its folder
	}
	return sourceRoot(inner)
}

// A compiler builds one submission, in the contained process; see inside.
type compiler struct {
	ctx     context.Context
	tell    func(tool string) // hears what runs
	goCache string            // see order
	dir     string            // of the sources
	root    *os.Root          // the same: what a build leaves there leads to no file outside
	seen    []source
	texts   map[string]string   // of files that have been read, as they were then
	takes   map[string][]string // files in which a word is imported or included
	limits  Limits
	uploads contest.Uploads
	forced  *language // that the author says; nil if not

	language string   // as found
	dialect  string   // as the author says
	argv     []string // how the bot is started
	begins   string   // the folder for that, below dir
	err      error    // of the first step that has failed; no further tool is run then
}

// fail keeps the error of a step, unless an earlier one has failed.
func (c *compiler) fail(err error) { c.err = cmp.Or(c.err, err) }

// begin says how the bot is started: a command, in the folder of a file.
func (c *compiler) begin(file string, argv ...string) {
	c.argv, c.begins = argv, path.Dir(file)
}

// try runs commands until one succeeds. The error is that of the first.
func (c *compiler) try(commands ...[]string) {
	if c.err != nil {
		return
	}
	for _, argv := range commands {
		err := c.in(".", argv...)
		if err == nil || c.ctx.Err() != nil {
			c.err = err
			return
		}
		c.fail(err)
	}
}

// What a tool may do beside its work.
const (
	maxOutput = 64 << 10               // bytes of each output that are kept
	leaveTime = 250 * time.Millisecond // that its outputs stay open when it has ended
)

// A head keeps the first bytes of what is written to it.
type head struct{ kept bytes.Buffer }

// Write keeps what there is room for, and reports that all of b is written.
func (h *head) Write(b []byte) (int, error) {
	h.kept.Write(b[:min(len(b), maxOutput-h.kept.Len())])
	return len(b), nil
}

// run runs a tool in the folder of the sources, if nothing has failed.
func (c *compiler) run(argv ...string) { c.try(argv) }

// in runs a tool in a folder below that. The error is a *Refusal if the tool fails or takes too long.
func (c *compiler) in(dir string, argv ...string) error {
	var out, log head // tsc and dotnet say on standard output what is wrong
	c.tell(filepath.Base(argv[0]))
	cmd := exec.CommandContext(c.ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = filepath.Join(c.dir, dir), &out, &log
	cmd.WaitDelay = leaveTime // for what it leaves running, which ends with this process
	err := cmd.Run()
	late, exit := c.ctx.Err(), new(exec.ExitError)
	switch {
	case errors.Is(late, context.DeadlineExceeded):
		err = fmt.Errorf("it takes more than %v", c.limits.Time)
	case late != nil:
		return late
	case err == nil || errors.Is(err, exec.ErrWaitDelay):
		return nil
	case !errors.As(err, &exit):
		return refuse("%s does not start here: %v", argv[0], err)
	}
	tidy := func(b *head) string {
		return strings.TrimSpace(strings.ReplaceAll(b.kept.String(), c.dir+string(filepath.Separator), ""))
	}
	text := cmp.Or(tidy(&log), tidy(&out))
	if why := cmp.Or(errorLineIn(tidy(&log)), errorLineIn(tidy(&out)), errorIn(text)); why != "" && late == nil {
		err = errors.New(ansi.Plain(why, 1000))
	}
	return &Refusal{Why: fmt.Sprintf("does not compile: %s: %v", filepath.Base(argv[0]), err), Output: text}
}

// What compilers write: a line with an error, and where it is, before or behind it.
var (
	errorLine = regexp.MustCompile(`(?m)^.*(\berror\b(\[\w+\])?:|` +
		`\w*Error: |\berror [A-Z]{2}\d|undefined reference).*$`)
	madeError = regexp.MustCompile(`(?m)^.*(?:command not found|: not found|: No such file or directory)$|^.*\*\*\* .*$`)
	placed    = regexp.MustCompile(`:\d+|\(\d+`)
	place     = regexp.MustCompile(`(?m)^\s*(?:--> )?(\S+:\d+)(?::\d+)?$|File "([^"]+)", line (\d+)`)
	noise     = regexp.MustCompile(`^(#|In file included|\s+from |make|In function)|: In (member )?function |` +
		`^Picked up |^Note: |(?i)\b(warning|note)\b(\[\w+\])?:|^warning\b`)
	symbol = regexp.MustCompile(`(?m)^\s*symbol:\s*(.*?)\s*$`)
)

// errorLineIn returns the first line about an error in what a compiler says, with its place and the name that it does
// not know; "" if there is none.
func errorLineIn(text string) string {
	at := errorLine.FindStringIndex(text)
	if at == nil {
		return ""
	}
	line := strings.TrimSpace(text[at[0]:at[1]])
	if m := symbol.FindStringSubmatch(text[at[1]:]); m != nil && strings.HasSuffix(line, "cannot find symbol") {
		line += ": " + strings.Join(strings.Fields(m[1]), " ")
	}
	if m := place.FindAllStringSubmatch(text, -1); m != nil && !placed.MatchString(line) {
		at := m[len(m)-1]
		if strings.HasPrefix(line, "error") {
			at = m[0]
		}
		line = cmp.Or(at[1], at[2]+":"+at[3]) + ": " + line
	}
	return line
}

// errorIn returns that line, or else the first that make or a shell says about an error, or the first that is no
// warning, or the last one.
func errorIn(text string) string {
	if line := cmp.Or(errorLineIn(text), strings.TrimSpace(madeError.FindString(text))); line != "" {
		return line
	}
	last := ""
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			last = line
			if !noise.MatchString(line) {
				return line
			}
		}
	}
	return last
}
