package tournament

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"blockyard/agents/bots"
	"blockyard/env/ansi"
)

// settle is how many looks in a row must see the same, so that no entrant is taken that is still being copied.
const settle = 2

// lookEvery is the time between two looks.
const lookEvery = 500 * time.Millisecond

// watch looks at the folder again and again until ctx ends.
func (l *League) watch(ctx context.Context, running *sync.WaitGroup) {
	said := ""
	for ctx.Err() == nil {
		agents, err := l.List()
		if err == nil {
			l.look(ctx, agents, running)
		} else if said != err.Error() {
			said = err.Error()
			l.Tell("%s: the entrants stay as they were", said)
		}
		select {
		case <-ctx.Done():
		case <-time.After(lookEvery):
		}
	}
}

// look takes who is there now, and begins to make ready what is new.
func (l *League) look(ctx context.Context, agents []*bots.Agent, running *sync.WaitGroup) {
	l.mu.Lock()
	defer l.mu.Unlock()
	signs, changed := map[string]string{}, false
	for _, a := range agents {
		from := from(a)
		sign, err := sign(a)
		signs[from] = sign
		if err != nil || l.looks == 0 || l.signs[from] != sign || l.taken[from] == sign {
			continue // it is being changed, or has been taken
		}
		l.taken[from] = sign
		print, err := content(a)
		if err != nil {
			print = err.Error() // it cannot be made ready, and the table says why
		}
		if l.here[from] == print {
			continue
		}
		l.here[from], changed = print, true
		e := l.version(a, print)
		l.making++
		running.Go(func() { l.ready(ctx, e, sign) })
	}
	for from := range l.here {
		if _, ok := signs[from]; !ok {
			delete(l.here, from)
			delete(l.taken, from)
			changed = true
		}
	}
	l.signs = signs
	if l.looks++; changed || l.looks == settle {
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
	return filepath.ToSlash(filepath.Join(SubmissionsDir, filepath.Base(a.Spec)))
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

// sign changes whenever the files of an agent do, without reading them.
func sign(a *bots.Agent) (text string, err error) {
	if a.Kind != bots.Submission {
		return a.Spec, nil
	}
	err = filepath.WalkDir(a.Spec, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && !d.IsDir() {
			text += fmt.Sprintf("%q %d %d\n", name, info.Size(), info.ModTime().UnixNano())
		}
		return err
	})
	return text, err
}

// version returns the entrant that an agent is, which is to be made ready. It has a name of its own.
func (l *League) version(a *bots.Agent, print string) *Entrant {
	from := from(a)
	k := slices.IndexFunc(l.known, func(e *Entrant) bool { return e.From == from && e.Fingerprint == print })
	if k < 0 {
		l.known = append(l.known, l.name(a, from, print))
		k = len(l.known) - 1
	}
	l.known[k].from = a
	e := new(*l.known[k])
	l.built++
	e.Refused, e.Output, e.Left = "", "", false
	e.into = filepath.Join(l.Dir, BuildDir, strconv.Itoa(l.built))
	return e
}

// name returns a new entrant: the first version of one, or the next one of who comes from the same place.
func (l *League) name(a *bots.Agent, from, print string) *Entrant {
	of, versions := "", 1
	for _, e := range l.known {
		if e.From == from {
			of = e.Of
		}
	}
	taken := func(name string) bool {
		return slices.ContainsFunc(l.known, func(e *Entrant) bool { return e.Name == name || e.Of == name })
	}
	if of == "" {
		of = unused(ansi.Plain(a.Name, mostName), taken)
	}
	name := of
	for _, e := range l.known {
		if e.Of == of {
			versions++
		}
	}
	if versions > 1 {
		name = unused(fmt.Sprintf("%s v%d", of, versions), taken)
	}
	e := enter(a, print, name)
	e.Of, e.From = of, from
	if a.Kind == bots.Ours {
		e.Agent = name
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
	err := l.Ready(ctx, e, l.others(e))
	if ctx.Err() != nil {
		return
	}
	now, e2 := sign(e.from)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.making--
	defer l.awake()
	if e2 != nil || now != was {
		if l.here[e.From] == e.Fingerprint {
			delete(l.here, e.From) // the next looks see what it is now
			delete(l.taken, e.From)
		}
		_ = e.forget()
		return
	}
	if err != nil {
		e.refuse("cannot be made ready: "+err.Error(), "")
	}
	k := slices.IndexFunc(l.known, func(o *Entrant) bool { return o.Name == e.Name })
	l.known[k].tested = e.Refused == ""
	l.found = append(l.found, e)
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
