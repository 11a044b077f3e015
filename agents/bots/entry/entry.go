// Package entry describes what one game offers beyond its rules: evaluators for agents, the features and the weights of
// a value network, the protocol of its contest, and the program that is submitted to that contest. The package of each
// game below agents/bots has one Entry, and package bots lists them. Code for all games names none.
//
// An agent is a Search with an Evaluator, which values positions: the hand-tuned Baseline or the network of Learned.
package entry

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"blockyard/agents/bots/features"
	"blockyard/agents/contest"
	"blockyard/agents/contest/trial"
	"blockyard/agents/mlp"
	"blockyard/agents/search"
	"blockyard/env"
)

// An Entry is what a game, with all its variants, offers. All fields but Game are optional.
type Entry struct {
	Game string // name of the game, without a variant

	Baseline *Baseline // the agent "hand"
	Learned  *Learned  // the agent "learned"
	Others   []Other   // further agents that search
	// Fixed makes agents that play by a rule, by their names: they neither search nor take options.
	Fixed map[string]func() env.Agent

	// Outcomes is the number of equally likely draws of third and fourth plies in package search; 0 without such plies.
	Outcomes int
	// Guard, if set, makes a guard for the searches of package search, which use it with the option guard=1.
	Guard func() search.Guard
	// Search is the game's own search; nil for those of package search.
	Search *Search

	// Codec, if set, returns the dialogue of the game's contest in lines of text, for one game. The bot's side may write
	// to out and report unexpected input to notes, which may be nil.
	Codec      func(g *env.Game, out, notes io.Writer) contest.Codec
	Host       *contest.Contest // what a host of the game's contest knows; nil if there is no contest between programs
	Submission *Submission
}

// An Evaluator is a search.Evaluator for the searches of package search, otherwise the type that Entry.Search expects.
type Evaluator any

// A Baseline is a hand-tuned Evaluator: the sum of named terms, each times a weight.
type Baseline struct {
	Terms   []string
	Weights []float32 // tuned ones, by term
	New     func(weights []float32) Evaluator
}

// Learned is an Evaluator that is a value network.
type Learned struct {
	Features features.Set
	// Except are variants whose actions are too small for features of afterstates, such as
	// keys instead of placements. The network judges their positions all the same.
	Except []string
	Files  fs.FS  // contains the weights that are shipped with the programs
	File   string // path of the weights in Files; the file may be missing
	New    func(*mlp.Net) Evaluator
	// Others are, in the place of New, for networks whose file says this of their output.
	Others map[string]func(*mlp.Net) Evaluator
	Unit   string // what a value of the game's own search with this Evaluator means; "" if it is what the network gives
}

// Over returns the Evaluator over a network whose file has these facts.
func (l *Learned) Over(net *mlp.Net, f mlp.Facts) (Evaluator, error) {
	if err := features.Check(net, len(l.Features.Names)); err != nil {
		return nil, err
	}
	if other := l.Others[f.Notes["output"]]; other != nil {
		return other(net), nil
	}
	return l.New(net), nil
}

// An Other is a further agent: its name in specs, and an Evaluator that needs no weights.
type Other struct {
	Name string
	New  func() Evaluator
}

// A Search selects actions by looking ahead, with options from a spec.
type Search struct {
	Options []Option
	// New returns an agent. Unless the search is Stateful, one agent may choose for several games in turn.
	New      func(g *env.Game, j Evaluator, o Options) (env.Agent, error)
	Stateful bool
	// Memory is the most that one of these agents takes without its evaluator, in bytes.
	Memory func(g *env.Game, o Options) int64
	// Ranker returns a Ranker that searches with the same options. It may be nil.
	Ranker func(g *env.Game, j Evaluator, o Options) (Ranker, error)
}

// A Ranker values every action of a position by the game's search. It is not safe for concurrent use.
type Ranker interface {
	// Rank returns the values of seat's legal actions in s, or of the most promising ones and of the action also.
	// Higher is better; values of one call are comparable. A value within search.Far of ±search.Win means that the game
	// ends within the plies of the search. Rank may change s during the call.
	Rank(ctx context.Context, s env.State, seat int, also env.Action) ([]Choice, error)
	// Line returns what the search expects after seat has played a in s: the principal variation, without a. It is
	// empty if the search has none. Line may change s during the call.
	Line(ctx context.Context, s env.State, seat int, a env.Action) ([]Ply, error)
}

// A Choice is a legal action and its value by a search, higher being better for the seat that acts.
type Choice struct {
	Action env.Action
	Value  float32
}

// A Ply is an action of a seat, as part of a line of play.
type Ply struct {
	Seat   int
	Action env.Action
}

// A Submission is the program that is submitted to a game's contest.
type Submission struct {
	Folder string // of the program, from the module's root; empty if the contest takes no source file
	MaxPly int    // the deepest search that the program can be built with; 0 if it has one search only
	Start  string // a sentence about how the contest starts the program and talks to it
	Replay trial.Script
	Build  string // how it is built if it is not a source file
}

// Lines is the Submission.Start of contests whose messages are lines of text.
const Lines = "It talks to the contest on standard input and output, in lines."

// Base returns a game's name without its variant.
func Base(g *env.Game) string {
	base, _, _ := strings.Cut(g.Name, ":")
	return base
}

// Names lists the game's own agents by the names that users type: hand and learned first, if it has them.
func (e *Entry) Names() (names []string) {
	if e.Baseline != nil {
		names = append(names, "hand")
	}
	if e.Learned != nil {
		names = append(names, "learned")
	}
	for _, o := range e.Others {
		names = append(names, o.Name)
	}
	return append(names, slices.Sorted(maps.Keys(e.Fixed))...)
}

// FeaturesOf returns the features of g, or nil if it has none.
func (e *Entry) FeaturesOf(g *env.Game) *features.Set {
	if e.Learned == nil || slices.Contains(e.Learned.Except, g.Name) {
		return nil
	}
	return &e.Learned.Features
}

// Evaluator returns the evaluator of a clone of net, or the tuned baseline if net is nil, for the searches of package
// search.
func (e *Entry) Evaluator(net *mlp.Net) (search.Evaluator, error) {
	var j Evaluator
	var err error
	switch {
	case net == nil && e.Baseline != nil:
		j = e.Baseline.New(e.Baseline.Weights)
	case net != nil && e.Learned != nil:
		j, err = e.Learned.Over(net.Clone(), mlp.Facts{})
	}
	if e, ok := j.(search.Evaluator); ok || err != nil {
		return e, err
	}
	return nil, fmt.Errorf("%s has no such evaluator for the searches of package search", e.Game)
}

// Names of the options whose values are not whole numbers.
const (
	WeightsOption = "weights" // a file
	timeOption    = "time"    // a duration
	epsOption     = "eps"     // a probability
)

// An Option is an option of a search: a whole number from 1 to Max or, if its name is "time", a limit for one choice.
// Every search also takes "weights", a file of weights for its evaluator, and "eps"; they need no Option.
type Option struct {
	Name string
	Max  int
}

var Time = Option{Name: timeOption} // the option "time"

// Options are the values of the options in a spec; those that it leaves out are zero.
type Options struct {
	Weights string // a file
	Time    time.Duration
	Eps     float64 // the probability of a random action, from 0 to 1
	Numbers map[string]int
}

// ParseOptions reads a comma-separated list of key=value, such as "ply=2,time=50ms"; isFile as in SplitOptions.
func (s *Search) ParseOptions(text string, isFile func(path string) bool) (Options, error) {
	return parseOptions(text, append([]Option{{Name: WeightsOption}, {Name: epsOption}}, s.Options...), isFile)
}

// ParseEps reads the options of an agent that has no search.
func ParseEps(text string) (Options, error) {
	return parseOptions(text, []Option{{Name: epsOption}}, nil)
}

func parseOptions(text string, known []Option, isFile func(path string) bool) (Options, error) {
	o := Options{Numbers: map[string]int{}}
	settings, err := SplitOptions(text, isFile)
	if err != nil {
		return o, err
	}
	var failed error
	last := ""
	for _, s := range settings {
		if err := o.parse(known, s.Key, s.Value); err != nil {
			failed, last = cmp.Or(failed, err), s.Key
		}
	}
	if failed != nil {
		failed = o.inPath(failed, text, last, isFile)
	}
	return o, failed
}

// inPath is the error of options, of which the last one that fails has this key. It is about the path of weights if
// they may be parts of that: if no quotes say how far it goes, and its first part is no file.
func (o *Options) inPath(err error, text, last string, isFile func(path string) bool) error {
	_, path, _ := strings.Cut(","+text, ","+WeightsOption+"=")
	at := strings.LastIndex(path, ","+last)
	if o.Weights == "" || at <= 0 || path[0] == '"' || isFile == nil || isFile(o.Weights) {
		return err
	}
	path = path[:at+1+strings.IndexByte(path[at+1:]+",", ',')]
	return fmt.Errorf("option weights: %.300s is no file here, nor is %.300s; a path with commas that is not here "+
		"goes in quotes: weights=%.300q (%w)", path, o.Weights, path, err)
}

// A Setting is an option as it stands in a spec.
type Setting struct{ Key, Value string }

// SplitOptions splits a comma-separated list of key=value. A value in double quotes may have commas in it. The path of
// weights needs no quotes if it exists as it is: it is the longest that isFile accepts.
func SplitOptions(text string, isFile func(path string) bool) (settings []Setting, err error) {
	for more := text != ""; more; {
		end := strings.IndexAny(text, "=,")
		if end < 0 || text[end] == ',' {
			var key string
			key, text, more = strings.Cut(text, ",")
			settings = append(settings, Setting{Key: key})
			continue
		}
		s := Setting{Key: text[:end]}
		text = text[end+1:]
		if quoted, ok := strings.CutPrefix(text, `"`); ok {
			if s.Value, text, ok = strings.Cut(quoted, `"`); !ok {
				return nil, fmt.Errorf("option %s: %.80q: want a second quote after the value", s.Key, `"`+quoted)
			}
			if text != "" && text[0] != ',' {
				return nil, fmt.Errorf("option %s: %.80q after the quotes: want a comma or the end", s.Key, text)
			}
			_, text, more = strings.Cut(text, ",")
		} else {
			end = strings.IndexByte(text+",", ',')
			for n := len(text); n > end && s.Key == WeightsOption && isFile != nil; n = strings.LastIndexByte(text[:n], ',') {
				if isFile(text[:n]) {
					end = n
				}
			}
			s.Value, more = text[:end], end < len(text)
			text = text[min(end+1, len(text)):]
		}
		settings = append(settings, s)
	}
	return settings, nil
}

func (o *Options) parse(options []Option, key, value string) (err error) {
	i := slices.IndexFunc(options, func(option Option) bool { return option.Name == key })
	switch {
	case i < 0:
		known := make([]string, len(options))
		for k, option := range options {
			known[k] = option.Name
		}
		slices.Sort(known)
		return fmt.Errorf("unknown option %.40q; there are %s", key, strings.Join(known, ", "))
	case key == WeightsOption:
		if o.Weights = value; value == "" {
			err = errors.New("no file is named")
		}
	case key == timeOption:
		if o.Time, err = time.ParseDuration(value); err == nil && o.Time <= 0 {
			err = fmt.Errorf("%v: want more than 0", o.Time)
		}
	case key == epsOption:
		if o.Eps, err = strconv.ParseFloat(value, 64); err != nil || !(o.Eps > 0 && o.Eps <= 1) {
			err = fmt.Errorf("%.40q is not a probability above 0 and up to 1", value)
		}
	default:
		o.Numbers[key], err = number(value, options[i].Max)
	}
	if err != nil {
		err = fmt.Errorf("option %s: %w", key, err)
	}
	return err
}

func number(text string, most int) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > most {
		return 0, fmt.Errorf("%.40q is not a number from 1 to %d", text, most)
	}
	return n, nil
}

// Memory is the most that the agents of one spec take, in bytes. Processes that they start are not counted.
type Memory struct {
	Spec   int64 // once, for all agents: the weights of a network
	Search int64 // for each choice that is made at the same time
	Agent  int64 // for each agent
}
