package tournament

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"blockyard/agents/bots"
	"blockyard/agents/contest/compile"
	"blockyard/env/ansi"
)

// settle is how many looks in a row must see the same, so that no entrant is taken that is still being copied.
const settle = 2

// lookEvery is the time between two looks.
const lookEvery = 500 * time.Millisecond

// A sight is what the looks have seen in one place, a file or folder of the submissions or a line of AgentsFile.
type sight struct {
	look  int    // the last one
	sign  string // of the last look
	taken string // the sign of what was taken
	print string // the fingerprint of what was taken
}

// watch looks at the folder again and again until ctx ends.
func (l *League) watch(ctx context.Context) {
	said := ""
	for ctx.Err() == nil {
		agents, err := l.List()
		l.mu.Lock()
		l.blind = err != nil
		l.mu.Unlock()
		if err == nil {
			said = ""
			l.look(ctx, agents)
		} else if said != err.Error() {
			l.awake()
			said = err.Error()
			l.Tell("%s: the entrants stay as they were", said)
		}
		select {
		case <-ctx.Done():
		case <-time.After(lookEvery):
		}
	}
}

// look takes who is there now, and begins to make ready what is new. It reads files while others play.
func (l *League) look(ctx context.Context, agents []*bots.Agent) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.looks + 1
	changed := now == settle
	for _, a := range agents {
		l.mu.Unlock()
		from, sign := from(a), sign(a)
		l.mu.Lock()
		s := l.here[from]
		settled := s.sign == sign
		if s.look, s.sign = now, sign; settled && s.taken != sign {
			s.taken = sign
			l.mu.Unlock()
			print, err := content(a)
			l.mu.Lock()
			if err != nil {
				print = err.Error() // it cannot be made ready, and the table says why
			}
			if s.print != print {
				s.print, changed = print, true
				l.here[from] = s
				e := l.version(a, print)
				l.making++
				l.running.Go(func() { l.ready(ctx, e, sign) })
			}
		}
		l.here[from] = s
	}
	before := len(l.here)
	maps.DeleteFunc(l.here, func(_ string, s sight) bool { return s.look < now })
	if l.looks = now; changed || len(l.here) < before {
		l.awake()
	}
}

func (l *League) awake() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// from is where an entrant comes from: its path in the league's folder, or its name.
func from(a *bots.Agent) string {
	if a.Kind != bots.Submission {
		return a.Name
	}
	return place(filepath.Base(a.Spec))
}

// place is the path of a submission in the league's folder, as text: a name may have any bytes.
func place(name string) string {
	text := strconv.Quote(name)
	return SubmissionsDir + "/" + text[1:len(text)-1]
}

// content identifies what an agent is made of.
func content(a *bots.Agent) (string, error) {
	switch a.Kind {
	case bots.Submission:
		return fingerprint(a.Spec)
	case bots.Ours:
		spec, _, _, err := a.Portable() // weights by their content
		return spec, err
	}
	return a.Spec, nil
}

// sign changes whenever the files of an agent do, and when they can be read, without reading them.
func sign(a *bots.Agent) (text string) {
	if a.Kind != bots.Submission {
		return a.Spec
	}
	_ = filepath.WalkDir(a.Spec, func(name string, d fs.DirEntry, err error) error {
		if local, _ := filepath.Rel(a.Spec, name); compile.LeftOut(local) {
			return nil
		}
		text += fmt.Sprintf("%q %v\n", name, err)
		if d == nil {
			return nil
		}
		info, err := d.Info()
		if err != nil {
			text += err.Error()
		} else if text += info.Mode().String(); !d.IsDir() {
			text += fmt.Sprint(" ", info.Size(), info.ModTime().UnixNano())
		}
		return nil
	})
	return text
}

// version returns the entrant that an agent is, which is to be made ready. It has a name of its own.
func (l *League) version(a *bots.Agent, print string) *Entrant {
	from := from(a)
	k := slices.IndexFunc(l.known, func(e *Entrant) bool {
		return e.From == from && e.Fingerprint == print || e.Tried == print && e.Verdict == ""
	})
	if k < 0 {
		// It takes the place and the name of one that was read too early, as a submission that is copied slowly, or did not
		// work, and has not played.
		k = slices.IndexFunc(l.known, func(e *Entrant) bool {
			return e.vain && e.From == from && l.here[from].print == print
		})
	}
	if k < 0 {
		k, l.known = len(l.known), append(l.known, l.name(a, from, print))
	} else if was := l.known[k]; was.Fingerprint != print && was.Tried != print {
		l.known[k] = enter(a, print, was.Name)
		l.known[k].Of, l.known[k].Since, l.known[k].vain = was.Of, time.Now().Unix(), true
	}
	l.known[k].from, l.known[k].From, l.known[k].doing = a, from, "waits for its turn"
	e := new(*l.known[k])
	l.built++
	e.Refused, e.Output, e.Left = "", "", false
	e.into = filepath.Join(l.Dir, BuildDir, strconv.Itoa(l.built))
	return e
}

// name returns a new entrant: the first version of one, or the next one of who comes from the same place, or has the
// name of one that is gone: an archive may follow a source file. Candidates of one name are versions of one entrant,
// wherever they are kept.
func (l *League) name(a *bots.Agent, from, print string) *Entrant {
	taken := func(name string) bool {
		return slices.ContainsFunc(l.known, func(e *Entrant) bool { return e.Name == name || e.Of == name })
	}
	base, of, versions := ansi.Plain(a.Name, mostName), "", 1
	_, looked := l.here[from]
	for _, e := range l.known {
		_, there := l.here[e.From]
		if e.From == from || of == "" && e.Of == base && (e.Tried != "" || looked && !there) {
			of = e.Of
		}
	}
	for _, e := range l.known {
		if e.Of == of {
			versions++
		}
	}
	if versions > 1 {
		base = fmt.Sprintf("%s v%d", of, versions)
	}
	e := enter(a, print, unused(base, taken))
	e.Of, e.From, e.Since, e.vain = cmp.Or(of, e.Name), from, time.Now().Unix(), true
	if a.Kind == bots.Ours {
		e.Agent = e.Name
	}
	return e
}

// ready makes an entrant ready, or refuses it, unless its files have changed in the meantime.
func (l *League) ready(ctx context.Context, e *Entrant, was string) {
	select {
	case l.places <- struct{}{}:
		defer func() { <-l.places }()
	case <-ctx.Done():
		return
	}
	l.mu.Lock()
	l.find(e).doing = "is compiled and tested"
	l.mu.Unlock()
	var err error
	if sign(e.from) == was { // else it was replaced while it waited for its turn
		err = l.Ready(ctx, e, l.others(e))
	}
	if ctx.Err() != nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.making--
	defer l.awake()
	known := l.find(e)
	known.doing = ""
	if sign(e.from) != was {
		if l.here[e.From].print == e.Fingerprint {
			delete(l.here, e.From) // the next looks see what it is now
		}
		_ = e.forget()
		return
	}
	if err != nil {
		e.refuse("cannot be made ready: "+err.Error(), "")
	}
	known.tested, known.Dialect, known.Refused, known.Output = e.Refused == "", e.Dialect, e.Refused, e.Output
	known.vain = known.vain && e.Refused != ""
	l.found = append(l.found, e)
}

// find returns what is known of a version. Its name may be that of another content by now: then that is nothing.
func (l *League) find(e *Entrant) *Entrant {
	for _, o := range l.known {
		if o.Name == e.Name && o.Fingerprint == e.Fingerprint {
			return o
		}
	}
	return new(Entrant)
}

// versions returns the versions of an author's bots, the last one first, and what is done with them.
func (l *League) versions(author string) []version {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := []version{}
	for _, e := range slices.Backward(l.known) {
		if !owns(author, e.From) {
			continue
		}
		v := version{Bot: compile.Name(e.From), Name: e.Name, State: cmp.Or(e.doing, "plays"),
			Refused: e.Refused, Output: e.Output}
		if l.here[e.From].print != e.Fingerprint {
			v.State = "is not there any more"
		} else if e.doing == "" && e.Refused != "" {
			v.State = "is refused"
		}
		all = append(all, v)
	}
	return all
}

// others returns an entrant and all that have been there with it.
func (l *League) others(e *Entrant) []*Entrant {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := []*Entrant{e}
	for _, r := range l.known {
		if r.from != nil && r.Name != e.Name {
			all = append(all, new(*r))
		}
	}
	return all
}
