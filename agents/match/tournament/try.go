package tournament

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
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

// A Trial is how a candidate did against those that a league keeps.
type Trial struct {
	Game      string   `json:"game"`
	Candidate string   `json:"candidate"`
	Against   []string `json:"against"` // those that it has met
	Games     int      `json:"games"`
	match.Counts
	Pairs    match.Pairs   `json:"pairs"` // of games with the same seed and the seats swapped
	LLR      float64       `json:"llr"`
	Low      float64       `json:"llr_low"`  // at which the candidate is rejected
	High     float64       `json:"llr_high"` // at which it is kept
	SPRT     match.Verdict `json:"sprt"`
	Decision string        `json:"decision"`          // kept, rejected or undecided
	Before   bool          `json:"before,omitempty"`  // it was decided before this try
	Place    string        `json:"kept_as,omitempty"` // where it is in the folder
	Test     *match.SPRT   `json:"-"`
}

// String returns the result for people.
func (t *Trial) String() string {
	var b strings.Builder
	if test := t.Test; t.Games > 0 {
		fmt.Fprintf(&b, "%s: %s against %s: %d games, %d wins, %d draws, %d losses\n", t.Game, t.Candidate,
			strings.Join(t.Against, ", "), t.Games, t.Wins, t.Draws, t.Losses)
		fmt.Fprintf(&b, "SPRT: Elo %g against %g: LLR %+.2f in [%.2f, %.2f]: %s\n", test.Elo0, test.Elo1, t.LLR, t.Low,
			t.High, t.SPRT)
	}
	already := ""
	if t.Before {
		already = "already "
	}
	switch t.Decision {
	case Kept:
		fmt.Fprintf(&b, "%s is %skept as %s\n", t.Candidate, already, t.Place)
	case Rejected:
		fmt.Fprintf(&b, "%s is %srejected\n", t.Candidate, already)
	default:
		fmt.Fprintf(&b, "%s is neither kept nor rejected: try it again, with more --games, to go on\n", t.Candidate)
	}
	return b.String()
}

// Try plays a candidate, a submission, against those that are kept until a test decides, at most so many games in all.
// It meets the one of the highest rating, all in turn if against is "kept", or the one of that name. If the test finds
// it stronger, or nobody is there, it is copied to the submissions. A candidate that was decided before plays no game.
func (l *League) Try(ctx context.Context, a *bots.Agent, against string, test *match.SPRT, most int) (*Trial, error) {
	if err := l.open(); err != nil {
		return nil, err
	}
	agents, err := l.List()
	if err != nil {
		return nil, err
	}
	print, err := content(a)
	if err != nil {
		return nil, err
	}
	kept, err := l.present(agents)
	if err != nil {
		return nil, err
	}
	for _, e := range kept {
		if e.Fingerprint == print || e.Tried == print {
			return l.trial(e, test, Kept), nil
		}
	}
	k := slices.IndexFunc(l.known, func(e *Entrant) bool { return e.Tried == print && e.Verdict != Kept })
	if k >= 0 && l.known[k].Verdict == Rejected {
		return l.trial(l.known[k], test, Rejected), nil
	}
	if k >= 0 {
		l.known[k].From = from(a) // not where it was to be kept
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
	if len(kept) == 0 {
		l.join(e)
		return l.decide(e, a.Spec, test, match.AcceptH1)
	}
	rivals, err := l.opponents(ctx, kept, against)
	if err != nil {
		return nil, err
	}
	number := l.join(e)
	if err := l.Journal.enter(l.Entrants); err != nil {
		return nil, err
	}
	l.next = func() []match.Played { return l.tries(number, rivals, test, most) }
	l.Expected = 0
	if err := l.Tournament.Play(ctx); err != nil && !(ctx.Err() != nil && match.Stopped(err)) {
		return nil, err
	}
	return l.decide(e, a.Spec, test, test.Verdict(l.trial(e, test, "").Pairs))
}

// present returns those that are there now, as entrants.
func (l *League) present(agents []*bots.Agent) (kept []*Entrant, err error) {
	for _, a := range agents {
		print, err := content(a)
		if err != nil {
			return nil, err
		}
		e := l.version(a, print)
		kept = append(kept, e)
		l.here[e.From] = print
	}
	return kept, nil
}

// join returns the number of an entrant among those of the journal, where a new one goes last.
func (l *League) join(e *Entrant) int {
	k := slices.IndexFunc(l.Entrants, func(o *Entrant) bool { return o.Name == e.Name })
	if k < 0 {
		k, l.Entrants = len(l.Entrants), append(l.Entrants, nil)
	}
	l.Entrants[k] = e
	return k
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
			return nil, fmt.Errorf("%s: %w", e.Name, err)
		}
		if e.Refused != "" {
			l.Tell("%s is refused: %s", e.Name, e.Refused)
			continue
		}
		numbers = append(numbers, l.join(e))
		if against == "best" {
			break
		}
	}
	if len(numbers) == 0 {
		err = fmt.Errorf("--against %s: want best, kept, or the name of one that is kept and not refused", against)
	}
	return numbers, err
}

// tries returns the games of a candidate that come next: pairs against each of some rivals in turn. The candidate has
// the first seat of the first game.
func (l *League) tries(candidate int, rivals []int, test *match.SPRT, most int) (next []match.Played) {
	t := l.trial(l.Entrants[candidate], test, "")
	if t.SPRT != match.Undecided || t.Games >= most {
		return nil
	}
	played := slices.Clip(l.Played)
	add := func(seats []int) {
		g := l.nextOf(played, stageTry, seats)
		played, next = append(played, g), append(next, g)
	}
	if last := half(played, stageTry); last != nil && last.Seats[0] == candidate {
		add(swapped(last.Seats))
	}
	for k := range max(1, l.Workers/2) {
		seats := []int{candidate, rivals[(t.Pairs.N()+k)%len(rivals)]}
		add(seats)
		add(swapped(seats))
	}
	return next
}

// trial returns how a candidate did in its games.
func (l *League) trial(e *Entrant, test *match.SPRT, before string) *Trial {
	t := &Trial{Game: l.Rules.Name, Candidate: e.Name, Against: []string{}, Test: test, Decision: before,
		Before: before != ""}
	if before == Kept {
		t.Place = e.From
	}
	number := slices.IndexFunc(l.Entrants, func(o *Entrant) bool { return o.Name == e.Name })
	halves, unit := 0, -1
	for _, g := range l.Played {
		seat := g.Number - g.Unit // that of the candidate
		if g.Stage != stageTry || g.Void != "" || g.Seats[seat] != number {
			continue
		}
		if name := l.Entrants[g.Seats[1-seat]].Name; !slices.Contains(t.Against, name) {
			t.Against = append(t.Against, name)
		}
		half := 1 + cmp.Compare(g.Ranks[1-seat], g.Ranks[seat])
		t.Games++
		t.Count(half)
		if g.Unit == unit { // the second of a pair
			t.Pairs[halves+half]++
			unit = -1
		} else {
			halves, unit = half, g.Unit
		}
	}
	t.Low, t.High = test.Bounds()
	t.LLR, t.SPRT = test.LLR(t.Pairs), test.Verdict(t.Pairs)
	return t
}

// decide keeps or rejects a candidate, if the test has decided, and remembers it.
func (l *League) decide(e *Entrant, path string, test *match.SPRT, verdict match.Verdict) (*Trial, error) {
	t := l.trial(e, test, "")
	switch t.Decision = Undecided; verdict {
	case match.AcceptH0:
		t.Decision = Rejected
	case match.AcceptH1:
		t.Decision = Kept
		into, err := l.room(path)
		if err != nil {
			return nil, err
		}
		// The journal first: a copy that was not made is made by the next try.
		e.From, e.Left = filepath.ToSlash(filepath.Join(SubmissionsDir, filepath.Base(into))), false
		t.Place = e.From
		if err := errors.Join(l.Journal.enter(l.Entrants), copyTo(into, path)); err != nil {
			return nil, err
		}
		if e.Fingerprint, err = fingerprint(into); err != nil {
			return nil, err
		}
	}
	e.Verdict = t.Decision
	return t, errors.Join(l.Journal.enter(l.Entrants), l.Changed(l.Tournament))
}

// room returns the path of a submission that is to be kept: its name, or the first one with a number that is free. A
// source file, whose name may matter to its language, then is in a folder of that name.
func (l *League) room(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	base := filepath.Base(path)
	into, name := base, compile.Name(path)
	for k := 2; ; k++ {
		if _, err := os.Lstat(filepath.Join(l.Dir, SubmissionsDir, into)); err != nil {
			if !errors.Is(err, os.ErrNotExist) {
				return "", err
			}
			break
		}
		if into = fmt.Sprintf("%s-%d", name, k); !info.IsDir() && compile.Archive(base) {
			into += strings.TrimPrefix(base, name)
		}
	}
	return filepath.Join(l.Dir, SubmissionsDir, into), nil
}

// copyTo copies a file or folder, whole or not at all. A source file whose name is taken goes into a folder.
func copyTo(into, path string) error {
	part := filepath.Join(filepath.Dir(into), "."+filepath.Base(into)+".part")
	if err := os.RemoveAll(part); err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err == nil && info.IsDir() {
		err = os.CopyFS(part, os.DirFS(path))
	} else if err == nil {
		var text []byte
		if text, err = os.ReadFile(path); err == nil && filepath.Ext(into) == filepath.Ext(path) {
			return disk.WriteText(into, info.Mode().Perm(), string(text))
		}
		err = errors.Join(err, os.Mkdir(part, 0o755),
			disk.WriteText(filepath.Join(part, filepath.Base(path)), info.Mode().Perm(), string(text)))
	}
	if err != nil {
		return err
	}
	return os.Rename(part, into)
}
