package tournament

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"blockyard/agents/bots"
	"blockyard/agents/contest"
	"blockyard/agents/contest/cage"
	"blockyard/agents/contest/compile"
	"blockyard/env"
	"blockyard/env/ansi"
)

// noEntrant are names in folders of submissions that are not submissions.
var noEntrant = regexp.MustCompile(`(?i)^(thumbs\.db|desktop\.ini|__MACOSX|__pycache__|` +
	`(README|LICEN[CS]E|NOTICE|CHANGELOG)(\..*)?|.*\.md)$`)

// Submissions lists the submissions in a folder by their names, without hidden files and notes such as README.md.
func Submissions(g *env.Game, dir string) (list []*bots.Agent, err error) {
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		if !strings.HasPrefix(f.Name(), ".") && !noEntrant.MatchString(f.Name()) {
			list = append(list, bots.Submitted(g, filepath.Join(dir, f.Name())))
		}
	}
	return list, nil
}

const (
	mostName   = 80   // bytes of a name that are shown
	mostReason = 1000 // bytes of the reason why an entrant is refused, or a game does not count
	// bytes of a submission that tell it from others: there may be files of any length
	mostPrinted = int64(64 << 20)
)

// Enter returns an entrant for each agent. Their names differ, also as those of files. Prepare makes them ready.
func Enter(agents []*bots.Agent) (all []*Entrant) {
	for _, a := range agents {
		print := a.Spec
		if a.Kind == bots.Submission {
			var err error
			if print, err = fingerprint(a.Spec); err != nil {
				print = err.Error() // Prepare refuses it
			}
		}
		all = append(all, enter(a, print, unused(ansi.Plain(a.Name, mostName), func(name string) bool {
			name = fileName(name)
			return slices.ContainsFunc(all, func(o *Entrant) bool { return strings.EqualFold(fileName(o.Name), name) })
		})))
	}
	return all
}

// enter returns the entrant of this name that an agent is.
func enter(a *bots.Agent, print, name string) *Entrant {
	e := &Entrant{Name: name, Language: a.Language, Fingerprint: print, from: a, Agent: a.Recorded()}
	if a.Kind != bots.Ours {
		e.Agent = "exec:" + name
	}
	return e
}

// unused returns a name, with a number if it is taken.
func unused(base string, taken func(name string) bool) string {
	name := base
	for k := 2; taken(name); k++ {
		name = fmt.Sprintf("%s (%d)", base, k)
	}
	return name
}

// fingerprint identifies what a submission is made of: its first mostPrinted bytes, and the lengths of what is behind.
func fingerprint(path string) (string, error) {
	sum, left := sha256.New(), mostPrinted
	err := filepath.WalkDir(path, func(name string, d fs.DirEntry, err error) error {
		local, _ := filepath.Rel(path, name)
		if err != nil || compile.LeftOut(local) || !d.Type().IsRegular() {
			return err
		}
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		defer f.Close()
		fmt.Fprintf(sum, "%q\n", filepath.ToSlash(local))
		n, err := io.CopyN(sum, f, left)
		if left -= n; errors.Is(err, io.EOF) {
			return nil
		}
		size, wrong := f.Seek(0, io.SeekEnd)
		fmt.Fprint(sum, size)
		return errors.Join(err, wrong)
	})
	return hex.EncodeToString(sum.Sum(nil))[:16], err
}

// contain puts an entrant in a cage in which it sees nothing of the tournament in dir nor of the other entrants.
func (e *Entrant) contain(dir string, rivals []*Entrant) {
	e.contained = true
	hidden := []string{dir}
	var own []string
	if e.from.Kind == bots.Program {
		own = cage.Named(e.Program.Argv, e.Program.Dir)
	}
	for _, r := range rivals {
		var files []string
		submitted := r.from.Kind == bots.Submission
		if submitted {
			files = []string{r.from.Spec}
		} else if r != e && r.from.Kind == bots.Program {
			p, _ := r.from.Program() // without a command, no file is named
			files = cage.Named(p.Argv, p.Dir)
		}
		for _, file := range files {
			info, err := os.Stat(file)
			if err == nil && (!info.IsDir() || submitted) && !slices.Contains(own, file) {
				hidden = append(hidden, file)
			}
		}
	}
	for k, file := range hidden {
		if path, err := filepath.Abs(file); err == nil {
			hidden[k] = path
		}
	}
	if built, ok := e.Program.Cage.(*cage.Cage); ok { // of a submission, or contained before, with other rivals
		built.Hidden = hidden
		return
	}
	file, also := e.from.Files()
	in := cage.For(append(slices.Clone(e.Program.Argv), file), e.Program.Dir, hidden...)
	if file != "" {
		in.Read, in.Env = append(in.Read, also...), append(in.Env, bots.Python+"="+os.Getenv(bots.Python))
	}
	e.Program.Cage = in
}

// Prepare makes an entrant ready to play: it compiles a submission below the folder dir, and puts a command into a cage
// where it does not see its rivals, unless l.Open is set. What its author has to change is in Refused.
func (e *Entrant) Prepare(ctx context.Context, dir string, l compile.Limits, memory int64, rivals []*Entrant) error {
	if e.into == "" {
		e.into = filepath.Join(dir, BuildDir, fileName(e.Name))
	}
	if e.from.Kind == bots.Submission {
		info, err := os.Lstat(e.from.Spec)
		if err != nil {
			return err
		}
		if !info.IsDir() && !info.Mode().IsRegular() {
			e.refuse("neither a file nor a folder; links are not followed", "")
			return nil
		}
		if err := cage.Remove(e.into); err != nil {
			return err
		}
	}
	err := e.from.Prepare(ctx, e.into, l)
	e.Language = e.from.Language
	if refusal := new(compile.Refusal); errors.As(err, &refusal) {
		e.refuse(refusal.Why, refusal.Output)
		return nil
	}
	if err == nil {
		e.Program, err = e.from.Program()
	}
	if err != nil {
		return err
	}
	if e.from.Kind != bots.Ours {
		e.Program.Memory = memory
	}
	if e.from.Kind != bots.Ours && !l.Open {
		e.contain(dir, rivals)
	}
	if e.from.Kind == bots.Program { // what starts a submission is looked up in its cage
		if err := contest.Find(e.Program.Argv); err != nil {
			e.refuse(err.Error(), "")
		}
	}
	return nil
}

// fileName is the name of an entrant as that of a file.
func fileName(name string) string { return noFile.ReplaceAllString(strings.TrimLeft(name, "."), "_") }

var noFile = regexp.MustCompile(`[/\\:*?"<>|\x00-\x1f]`)
