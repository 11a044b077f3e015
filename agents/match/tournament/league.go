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
	"sync"

	"github.com/BurntSushi/toml"

	"blockyard/agents/bots"
	"blockyard/agents/contest/cage"
	"blockyard/agents/match"
	"blockyard/env"
)

// The parts of a league's folder that its organiser fills.
const (
	SubmissionsDir = "submissions" // an archive, a source file or a folder for each entrant
	AgentsFile     = "league.toml" // entrants that are agents of this program, or commands
)

// AgentsOf returns the texts of the agents and commands that the AgentsFile of a league lists; none without that file.
func AgentsOf(dir string) ([]string, error) {
	var file struct{ Agents []string }
	path := filepath.Join(dir, AgentsFile)
	made, err := toml.DecodeFile(path, &file)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err == nil && len(made.Undecoded()) > 0 {
		err = fmt.Errorf("unknown %v: want agents = [\"hand:ply=1\", \"me=./bot\"]", made.Undecoded()[0])
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return file.Agents, nil
}

// A leaguePolicy is that of a tournament whose entrants come and go. Two meet in pairs of games with the same seed and
// the seats swapped.
type leaguePolicy struct{ proofs }

func (leaguePolicy) stages(*plan) []func([]match.Played) []meeting { return nil }

func (l leaguePolicy) verify(p *match.Played, c *Config, entrants []*Entrant, dir string) error {
	inside := func(e int) bool { return e >= 0 && e < len(entrants) }
	if len(p.Seats) != 2 || p.Seats[0] == p.Seats[1] || !inside(p.Seats[0]) || !inside(p.Seats[1]) {
		return fmt.Errorf("seats %v: want two of %d entrants", p.Seats, len(entrants))
	}
	if p.Stage != stageLeague && p.Stage != stageTry {
		return fmt.Errorf("stage %q: want %s or %s", p.Stage, stageLeague, stageTry)
	}
	return l.proofs.verify(p, c, entrants, dir)
}

// The stages of a league's games.
const (
	stageLeague = "league"
	stageTry    = "try" // of a candidate
)

// nextOf returns the game of a league that follows those played, with these seats: the second of a pair if they are
// those of the first, swapped.
func (c *Config) nextOf(played []match.Played, stage string, seats []int) match.Played {
	n := len(played)
	g := match.Played{Number: n, Unit: n, Stage: stage, Seats: seats,
		Seed: strconv.FormatUint(env.Derive(c.Seed, uint64(n)), 10)}
	if last := half(played, stage); last != nil && slices.Equal(swapped(last.Seats), seats) {
		g.Seed, g.Unit = last.Seed, last.Unit
	}
	return g
}

// half returns the last game if it is the first of a pair of this stage.
func half(played []match.Played, stage string) *match.Played {
	if n := len(played); n > 0 && played[n-1].Unit == played[n-1].Number && played[n-1].Stage == stage {
		return &played[n-1]
	}
	return nil
}

func swapped(seats []int) []int { return []int{seats[1], seats[0]} }

// A League is a tournament of entrants that appear in a folder, are replaced there or removed. Every version of an
// entrant is an entrant of its own, with its own rating. One that is not there plays no more, and its games stay.
// Entrants are compiled and tested while others play.
type League struct {
	*Tournament
	Dir   string
	List  func() ([]*bots.Agent, error)                               // who is there now
	Ready func(ctx context.Context, e *Entrant, all []*Entrant) error // compiles an entrant; tests it unless Tested
	Here  int                                                         // games, or builds, at once here; 0: Workers
	Away  func(number int) bool                                       // others play games between these; may be nil
	Limit int                                                         // games after which it ends, once settled; 0: none
	Until <-chan struct{}                                             // closed when it ends; nil for never
	Tell  func(format string, a ...any)                               // what happens to entrants

	Testing func(*Trial) // called with how a candidate stands, before its next games; may be nil

	built   int   // builds so far
	waits   bool  // it has said that it waits for entrants
	err     error // of next
	running sync.WaitGroup

	mu     sync.Mutex
	looks  int
	blind  bool             // the list cannot be read
	making int              // entrants that are being made ready
	here   map[string]sight // who is there, by Entrant.From
	known  []*Entrant       // all versions, as they were when they came
	found  []*Entrant       // ready or refused since the last admit
	wake   chan struct{}
	places chan struct{} // one for each entrant that is made ready
}

// open knows the entrants of the journal, none of which is ready.
func (l *League) open() error {
	l.Played = l.Journal.Played
	l.here, l.wake, l.places = map[string]sight{}, make(chan struct{}, 1), make(chan struct{}, l.local())
	for k, e := range l.Entrants {
		e := new(*e)
		e.tested, e.vain = e.Refused == "", e.Refused != "" && !slices.ContainsFunc(l.Played, func(g match.Played) bool {
			return slices.Contains(g.Seats, k)
		})
		l.known = append(l.known, e)
	}
	return cage.Remove(filepath.Join(l.Dir, BuildDir)) // what was left behind
}

// Play plays until ctx ends, or Limit or Until says so, which is no error.
func (l *League) Play(ctx context.Context) error {
	if err := l.open(); err != nil {
		return err
	}
	looking, stop := context.WithCancel(ctx)
	l.running.Go(func() { l.watch(looking) })
	l.next = func() []match.Played { return l.comes(ctx) }
	l.Expected = l.Limit
	err := l.Tournament.Play(ctx)
	stop()
	l.running.Wait()
	return errors.Join(err, l.err)
}

// comes returns the games that come next. It waits while there are none; at the end there are none.
func (l *League) comes(ctx context.Context) []match.Played {
	for {
		if l.err = l.admit(); l.err != nil || l.over(ctx) {
			return nil
		}
		if games := l.games(); len(games) > 0 {
			return games
		}
		select {
		case <-l.wake:
		case <-l.Until:
		case <-ctx.Done():
		}
	}
}

func (l *League) over(ctx context.Context) bool {
	select {
	case <-l.Until:
		return true
	default:
		return ctx.Err() != nil || l.Limit > 0 && len(l.Played) >= l.Limit && l.settled()
	}
}

// settled reports whether all who are there have entered or were refused: nobody is left out of a league that is over
// because the games were faster than the test. A list that cannot be read has nobody new.
func (l *League) settled() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.blind || l.looks >= settle && len(l.found) == 0 && !slices.ContainsFunc(l.known, func(e *Entrant) bool {
		return e.doing != "" && !e.tested && e.Refused == ""
	})
}

// admit lets those in that are ready and out that are not there any more. No game is being played.
func (l *League) admit() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.looks < settle {
		return nil
	}
	changed := len(l.found) > 0
	for _, e := range l.found {
		if l.join(e); e.Refused != "" {
			l.Tell("%s is refused: %s", e.Name, e.Refused)
		} else {
			l.Tell("%s plays", e.Name)
		}
	}
	l.found = nil
	for _, e := range l.Entrants {
		left := l.here[e.From].print != e.Fingerprint
		if left == e.Left {
			continue
		}
		if e.Left, changed = left, true; left {
			l.Tell("%s has left", e.Name)
			if err := e.forget(); err != nil {
				return err
			}
		}
	}
	var playing []*Entrant
	for _, k := range l.playing() {
		playing = append(playing, l.Entrants[k])
	}
	if waits := len(playing) < 2 && l.making == 0; waits && !l.waits {
		l.Tell("waiting for entrants in %s: want at least two that pass the test", filepath.Join(l.Dir, SubmissionsDir))
		l.waits = true
	}
	if !changed {
		return nil
	}
	for _, e := range playing {
		if e.contained {
			e.contain(l.Dir, playing)
		}
	}
	return errors.Join(l.Journal.enter(l.Entrants), l.Changed(l.Tournament))
}

// join returns the number of an entrant among those of the journal, where a new one goes last.
func (l *League) join(e *Entrant) int {
	k := slices.IndexFunc(l.Entrants, func(o *Entrant) bool { return o.Name == e.Name })
	if k < 0 {
		k, l.Entrants = len(l.Entrants), append(l.Entrants, nil)
	} else {
		_ = l.Entrants[k].forget() // open removes what is left
	}
	l.Entrants[k] = e
	return k
}

// Tested reports whether an entrant of a league has passed its test before.
func (e *Entrant) Tested() bool { return e.tested }

// forget removes what an entrant was compiled to.
func (e *Entrant) forget() error {
	into := e.into
	if e.into = ""; into == "" {
		return nil
	}
	return cage.Remove(into)
}

// playing are the entrants that are there and ready.
func (l *League) playing() []int {
	return which(l.Entrants, func(_ int, e *Entrant) bool { return e.into != "" && e.Refused == "" && !e.Left })
}

// local is how many games, or builds, are under way at once on this machine.
func (l *League) local() int { return max(1, cmp.Or(l.Here, l.Workers)) }

// games returns the next pairs: one for each worker of this machine and, for others, as many as there are of such.
func (l *League) games() []match.Played {
	playing := l.playing()
	if len(playing) < 2 {
		return nil
	}
	listed := l.listed()
	var who, away []int // places in the table
	for _, k := range playing {
		place := slices.Index(listed, k)
		if who = append(who, place); l.Away != nil && l.Away(k) {
			away = append(away, place)
		}
	}
	results := l.table(listed, nil, l.Played).Results()
	var pairs [][]int
	others := min(l.Workers, len(away)*(len(away)-1)/2)
	for _, pair := range append(pairing(results, who, l.local()), pairing(results, away, others)...) {
		pairs = append(pairs, []int{listed[pair[0]], listed[pair[1]]})
	}
	next := l.inPairs(stageLeague, playing, pairs)
	if l.Limit > 0 {
		next = next[:min(len(next), max(0, l.Limit-len(l.Played)))]
	}
	return next
}

// inPairs returns two games of each pair, after the second game of a pair that was interrupted, if its two are there.
func (l *League) inPairs(stage string, there []int, pairs [][]int) (next []match.Played) {
	away := func(e int) bool { return !slices.Contains(there, e) }
	var seatings [][]int
	if last := half(l.Played, stage); last != nil && !slices.ContainsFunc(last.Seats, away) {
		seatings = append(seatings, swapped(last.Seats))
	}
	for _, seats := range pairs {
		seatings = append(seatings, seats, swapped(seats))
	}
	played := slices.Clip(l.Played)
	for _, seats := range seatings {
		g := l.nextOf(played, stage, seats)
		played, next = append(played, g), append(next, g)
	}
	return next
}
