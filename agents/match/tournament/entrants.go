package tournament

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"blockyard/agents/contest"
	"blockyard/agents/contest/compile"
)

// An Entry is what a user names: an agent of ours, a command, or a submission.
type Entry struct {
	Text   string          // as the user wrote it, or the name that the user gave it
	Spec   string          // what such a name stands for; "" if there is none
	Path   string          // of a submission; "" otherwise
	Agent  bool            // one of our own agents
	Player contest.Program // of an agent or a command
}

// Submissions lists the submissions in a folder, in the order of their names. Hidden files are left out.
func Submissions(dir string) (list []Entry, err error) {
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		path := filepath.Join(dir, f.Name())
		if strings.HasPrefix(f.Name(), ".") {
			continue
		}
		list = append(list, Entry{Text: compile.Name(path), Path: path})
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s holds no submissions: want archives, source files or folders", dir)
	}
	return list, nil
}

// Name returns the entrants of some entries, with names that differ, none of them ready to play yet.
func Name(entries []Entry) ([]*Entrant, error) {
	var all []*Entrant
	for _, e := range entries {
		base, language, print := e.Text, "command", cmp.Or(e.Spec, e.Text)
		switch {
		case e.Path != "":
			sum, err := fingerprint(e.Path)
			if err != nil {
				return nil, err
			}
			language, print = "", sum
		case e.Agent:
			language = "agent"
		}
		name := base
		for k := 2; slices.ContainsFunc(all, func(o *Entrant) bool { return o.Name == name }); k++ {
			name = fmt.Sprintf("%s (%d)", base, k)
		}
		agent := "exec:" + name
		if e.Agent {
			agent = e.Text
		}
		all = append(all, &Entrant{Name: name, Language: language, Print: print, Agent: agent})
	}
	return all, nil
}

// fingerprint is the SHA-256 of a submission: of its files and their names.
func fingerprint(path string) (string, error) {
	sum := sha256.New()
	err := filepath.WalkDir(path, func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		local, err := filepath.Rel(path, name)
		if err != nil {
			return err
		}
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		defer f.Close()
		fmt.Fprintf(sum, "%q\n", filepath.ToSlash(local))
		_, err = io.Copy(sum, f)
		return err
	})
	return hex.EncodeToString(sum.Sum(nil))[:16], err
}

// Prepare makes an entrant ready to play: it compiles a submission below the folder dir. What its author has to mend
// is in Refused afterwards; the error is another one.
func (e *Entrant) Prepare(ctx context.Context, from Entry, dir string, uploads contest.Uploads, l compile.Limits,
	memory int64) error {
	e.Program = from.Player
	if from.Path != "" {
		into := filepath.Join(dir, BuildDir, folderName(e.Name))
		if err := os.RemoveAll(into); err != nil {
			return err
		}
		bot, err := compile.Submission(ctx, from.Path, into, uploads, l)
		e.Language, e.Program = bot.Language, bot.Program
		if refusal := new(compile.Refusal); errors.As(err, &refusal) {
			e.Refused, e.Output = refusal.Why, refusal.Output
			return nil
		}
		if err != nil {
			return err
		}
	}
	if from.Path != "" || !from.Agent {
		e.Program.Memory = memory
	}
	if err := contest.Find(e.Program.Argv); err != nil {
		e.Refused = err.Error()
	}
	return nil
}

// folderName is a name as one part of a path.
func folderName(name string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(`/\:*?"<>|`, r) || r < ' ' {
			return '_'
		}
		return r
	}, strings.TrimLeft(name, "."))
}

// Check tests an entrant that is ready and notes what is wrong with it.
func (e *Entrant) Check(ctx context.Context, c Contest) error {
	err := c.Test(ctx, e)
	if fault := new(Fault); errors.As(err, &fault) {
		e.Refused, e.Output = fault.Why, fault.Words
		return nil
	}
	return err
}
