package tournament

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"blockyard/agents/bots"
	"blockyard/agents/contest/compile"
	"blockyard/agents/match"
	"blockyard/datasets/program/disk"
)

// The decisions about a candidate.
const (
	Kept      = "kept"      // it takes part in the league from now on
	Rejected  = "rejected"  // it is not stronger, and plays no more
	Undecided = "undecided" // all games were played, or the command was interrupted; the next try goes on
)

// A Trial is how a candidate did against those of a league that its test is about, which count as one player.
type Trial struct {
	Candidate string       `json:"candidate"`
	Match     match.Report `json:"match"`
	Decision  string       `json:"decision"`          // kept, rejected or undecided
	Before    bool         `json:"before,omitempty"`  // it was decided before this try
	Place     string       `json:"kept_as,omitempty"` // where it is in the folder
}

// String returns the result for people.
func (t *Trial) String() (text string) {
	if t.Match.Games > 0 {
		text = match.Versus{Report: &t.Match}.String()
	}
	if t.Decision == Undecided {
		return text + t.Candidate + " is neither kept nor rejected: try it again, with more --games, to go on\n"
	}
	text += t.Candidate + " is "
	if t.Before {
		text += "already "
	}
	if text += t.Decision; t.Place != "" {
		text += " as " + t.Place
	}
	return text + "\n"
}

// Progress returns how the test stands, in a few words.
func (t *Trial) Progress() string {
	m := t.Match.Meetings[0]
	won, games := m.Score.Value*float64(t.Match.Games), t.Match.Games
	return fmt.Sprintf("%s: %.1f of %d, LLR %+.2f", t.Candidate, won, games, *m.LLR)
}

// Try plays a candidate, a submission, against those that are kept until a test decides, at most so many games in all.
// It meets the one of the highest rating, all in turn if against is "kept", or the one of that name; games against
// others, of an earlier try, are no part of the test. If that finds it stronger, or nobody is there, it is copied to
// the submissions. A candidate that was decided before plays no game.
func (l *League) Try(ctx context.Context, a *bots.Agent, against string, test *match.SPRT, most int) (*Trial, error) {
	if base := filepath.Base(a.Spec); noEntrant.MatchString(base) {
		return nil, fmt.Errorf("%s is the name of a note: give the candidate another one", base)
	}
	agents, err := l.List()
	print, wrong := content(a)
	if err = errors.Join(err, wrong, l.open()); err != nil {
		return nil, err
	}
	var kept []*Entrant
	for _, o := range agents {
		is, err := content(o)
		if err != nil {
			return nil, err
		}
		kept = append(kept, l.version(o, is))
	}
	for _, e := range slices.Concat(kept, l.known) {
		if here := slices.Contains(kept, e); here && (e.Fingerprint == print || e.Tried == print) {
			e.Verdict = Kept
		} else if here || e.Tried != print || e.Verdict != Rejected {
			continue
		}
		t := l.trial(e, test)
		t.Before = true
		return t, nil
	}
	e := l.version(a, print)
	e.Tried, e.Left = print, true
	if err := l.Ready(ctx, e, l.others(e)); err != nil {
		return nil, err
	}
	defer func() { _ = e.forget() }()
	if e.Refused != "" {
		return nil, fmt.Errorf("%s is refused: %s", e.Name, strings.TrimSpace(e.Refused+"\n"+e.Output))
	}
	verdict := match.AcceptH1
	if len(kept) > 0 {
		rivals, err := l.opponents(ctx, kept, against)
		if err != nil {
			return nil, err
		}
		e.Against = nil
		for _, k := range rivals {
			e.Against = append(e.Against, l.Entrants[k].Name)
		}
		number := l.join(e)
		if err := l.Journal.enter(l.Entrants); err != nil {
			return nil, err
		}
		l.next = func() []match.Played {
			t := l.trial(e, test)
			if l.Testing != nil {
				l.Testing(t)
			}
			return l.tries(&t.Match, number, rivals, most)
		}
		if err := match.IgnoreStop(ctx, l.Tournament.Play(ctx)); err != nil {
			return nil, err
		}
		verdict = l.trial(e, test).Match.Meetings[0].Verdict
	} else {
		l.join(e)
	}
	switch verdict {
	case match.AcceptH0:
		e.Verdict = Rejected
	case match.AcceptH1:
		if err := l.keep(e); err != nil {
			return nil, err
		}
	}
	return l.trial(e, test), errors.Join(l.Journal.enter(l.Entrants), l.Changed(l.Tournament))
}

// opponents returns the numbers of those that a candidate meets, ready to play.
func (l *League) opponents(ctx context.Context, kept []*Entrant, against string) (numbers []int, err error) {
	rating := map[string]float64{}
	for _, s := range l.Report().Players {
		rating[s.Name] = s.Elo.Value
	}
	slices.SortStableFunc(kept, func(a, b *Entrant) int { return cmp.Compare(rating[b.Name], rating[a.Name]) })
	for _, e := range kept {
		if against != "kept" && against != "best" && against != e.Name {
			continue
		}
		if err := l.Ready(ctx, e, l.others(e)); err != nil {
			return nil, err
		}
		if e.Refused != "" {
			l.Tell("%s is refused: %s", e.Name, e.Refused)
		} else if numbers = append(numbers, l.join(e)); against == "best" {
			break
		}
	}
	if len(numbers) == 0 {
		var names []string
		for _, e := range kept {
			names = append(names, e.Name)
		}
		err = fmt.Errorf("--against %s: want best, kept, or the name of one that is kept and not refused, of %s", against,
			some(names))
	}
	return numbers, err
}

// tries returns the games of a candidate that come next: pairs against each of some rivals in turn.
func (l *League) tries(r *match.Report, candidate int, rivals []int, most int) []match.Played {
	if r.Meetings[0].Verdict != match.Undecided || r.Games+len(r.Void) >= most {
		return nil
	}
	var pairs [][]int
	for k := range max(1, l.Workers/2) {
		pairs = append(pairs, []int{candidate, rivals[(r.Units+k)%len(rivals)]})
	}
	return l.inPairs(stageTry, append(slices.Clone(rivals), candidate), pairs)
}

// trial returns how a candidate did in its games, of which each pair begins with it in the first seat.
func (l *League) trial(e *Entrant, test *match.SPRT) *Trial {
	t := &Trial{Candidate: e.Name, Decision: cmp.Or(e.Verdict, Undecided)}
	if e.Verdict == Kept {
		t.Place = e.From
	}
	number := slices.IndexFunc(l.Entrants, func(o *Entrant) bool { return o.Name == e.Name })
	var games []match.Played
	for _, g := range l.Played {
		seat := g.Number - g.Unit
		if g.Stage != stageTry || g.Seats[seat] != number || !slices.Contains(e.Against, l.Entrants[g.Seats[1-seat]].Name) {
			continue
		}
		g.Seats, g.Repeats = []int{seat, 1 - seat}, 0 // two that are the same program repeat every game
		games = append(games, g)
	}
	names := []string{e.Name, strings.Join(e.Against, ", ")}
	t.Match = *match.ReportOf(l.Rules, strconv.FormatUint(l.Seed, 10), names, games)
	t.Match.Decide(test)
	return t
}

// keep copies a candidate to the submissions, whole or not at all. A source file goes into a folder, since its name may
// matter to its language.
func (l *League) keep(e *Entrant) error {
	path := e.from.Spec
	base, name := filepath.Base(path), strings.ReplaceAll(fileName(e.Name), " ", "-")
	if compile.Archive(base) {
		name += strings.TrimPrefix(base, compile.Name(path))
	}
	into := filepath.Join(l.Dir, SubmissionsDir, name)
	part := filepath.Join(l.Dir, SubmissionsDir, "."+name+".part")
	if _, err := os.Lstat(into); !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%s cannot be kept as %s, which is there: move that away and try again", e.Name, into)
	}
	info, err := os.Stat(path)
	if err = errors.Join(err, os.RemoveAll(part)); err != nil {
		return err
	}
	if info.IsDir() {
		err = os.CopyFS(part, os.DirFS(path))
	} else {
		to := part
		if !compile.Archive(base) {
			err, to = os.Mkdir(part, 0o755), filepath.Join(part, base)
		}
		text, wrong := os.ReadFile(path)
		err = errors.Join(err, wrong, disk.WriteText(to, info.Mode().Perm(), string(text)))
	}
	now, wrong := content(e.from)
	if err = errors.Join(err, wrong); err == nil && now != e.Tried {
		err = fmt.Errorf("%s has changed while it was played: try it again", path)
	}
	if err == nil {
		e.Fingerprint, err = fingerprint(part)
	}
	if err != nil {
		return errors.Join(err, os.RemoveAll(part))
	}
	e.From, e.Left = place(name), false
	err = errors.Join(l.Journal.enter(l.Entrants), os.Rename(part, into)) // without the second, the next try goes on
	e.Verdict = Kept
	return err
}
