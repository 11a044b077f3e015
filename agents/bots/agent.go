package bots

import (
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

	"blockyard/agents/bots/entry"
	"blockyard/agents/contest"
	"blockyard/agents/mlp"
	"blockyard/agents/search"
	"blockyard/env"
)

// A Kind says what an Agent is made of, and so what has to happen before it can play.
type Kind int

const (
	Ours       Kind = iota // one of Names, with options
	Program                // an external program
	Submission             // the sources of a program, which Prepare compiles
	Human                  // a person
)

const Person = "human" // the text of the agent that is a person

// Clairvoyant is the name of the agent of package match/clairvoyant, which this package does not make.
const Clairvoyant = "clairvoyant"

// ErrClairvoyant is the error wherever a clairvoyant cannot play: everywhere but in one place.
var ErrClairvoyant = errors.New("the clairvoyant knows what is hidden from players, so it plays for measurements " +
	"only: in agents arena, without --cluster and without another name; want another agent here")

const execPrefix = "exec:" // begins the text of an agent that is a program

// An Agent is one that a user names, for one game.
type Agent struct {
	Name string // to show: the alias, the name of a submission's file without its ending, or else Spec
	Spec string // the text without the alias
	Kind Kind
	// Language is that of a submission after Prepare, as far as it is known; "agent" or "command" for the others.
	Language string

	game       *env.Game
	aliased    bool
	program    contest.Program
	name       string // of Names
	policy     bool   // of Python
	evaluators evaluators
	options    entry.Options
	text       Text
}

// Parse reads the text of an agent of g and its weights, and looks up programs, but starts and compiles nothing.
func Parse(g *env.Game, t Text) (_ *Agent, err error) {
	defer named(t.text, &err)
	name, spec := Alias(t.text)
	a := &Agent{Name: name, Spec: spec, Language: "command", game: g, aliased: spec != t.text, text: t}
	if again, rest := Alias(spec); rest != spec {
		return nil, fmt.Errorf("two names, %s and %s: want NAME=AGENT", name, again)
	}
	return a, a.parse()
}

func named(text string, err *error) {
	if *err != nil {
		*err = fmt.Errorf("agent %.80q: %w", text, *err)
	}
}

// New parses text and returns a Factory of its agent: Parse and Agent.Factory in one call.
func New(g *env.Game, t Text) (Factory, error) {
	a, err := Parse(g, t)
	if err != nil {
		return nil, err
	}
	return a.Factory()
}

func (a *Agent) parse() (err error) {
	known, options, colon := strings.Cut(a.Spec, ":")
	switch own := a.text.own; {
	case slices.Contains(Names(a.game), known):
		a.Language, a.name = "agent", known
		return a.read(options, colon)
	case known == Clairvoyant:
		return ErrClairvoyant
	case !own && (known == "exec" || policy.MatchString(a.Spec) || a.Spec == Person):
		return ErrUntrusted
	case !own:
		return a.unknown(known, "")
	case a.Spec == Person:
		a.Kind, a.Language = Human, "person"
	case known == "exec":
		return a.find(options)
	case policy.MatchString(a.Spec):
		a.Kind, a.Language, a.policy = Program, "Python", true
		a.program, err = a.self()
		return err
	case isSubmission(a.Spec):
		a.Kind, a.Language = Submission, ""
		a.program.Dir = a.Spec
		if !a.aliased {
			a.Name = nameOf(a.Spec)
		}
	default:
		err := a.find(a.Spec)
		if !misspelt.MatchString(a.Spec) && (err == nil || errors.Is(err, fs.ErrPermission)) {
			return err
		}
		more := ", exec:CMD, human, and files, folders and commands that exist"
		if a.aliased {
			more += "; for a variable of a command, write exec:" + a.text.text
		}
		if strings.ContainsAny(a.Spec, "/.") {
			more += "; there is no file or folder " + a.Spec
		}
		return a.unknown(known, more)
	}
	return nil
}

// An alias is a word before the first equals sign, so that neither an option (hand:ply=1), a command with an option
// (./bot --level=2) nor exec:A=1 ./bot has one. misspelt is a name with options, and not a command of the shell.
var (
	alias    = regexp.MustCompile(`^([\p{L}\p{N}_][\p{L}\p{N}_.+-]{0,39})=`)
	misspelt = regexp.MustCompile(`^[\w-]{2,}:`)
)

// Alias splits NAME=AGENT. Without a name, it returns the text as both.
func Alias(text string) (name, agent string) {
	if m := alias.FindStringSubmatch(text); m != nil {
		return m[1], text[len(m[0]):]
	}
	return text, text
}

// unknown is the error for a name that no agent of the game has; more are the other kinds of agents.
func (a *Agent) unknown(name, more string) error {
	return fmt.Errorf("unknown agent %.40q; %s has %s%s", name, a.game.Name, strings.Join(Names(a.game), ", "), more)
}

// find makes a the program of a command line, which must exist.
func (a *Agent) find(command string) (err error) {
	a.Kind, a.program = Program, contest.Program{Argv: contest.Command(command), Cage: contest.Trusted}
	if len(a.program.Argv) == 0 {
		return errors.New("exec: no command is named")
	}
	if h := Of(a.game).Host; h == nil || h.Open != nil {
		return contest.Find(a.program.Argv)
	}
	a.program.Argv, err = contest.File(command) // to which every turn adds arguments
	return err
}

func (a *Agent) read(options string, colon bool) (err error) {
	switch e := Of(a.game); {
	case e.Fixed[a.name] != nil:
		a.options, err = entry.ParseEps(options)
	case a.name != "random" && a.name != "first":
		if a.options, err = searchOf(e).ParseOptions(options, a.text.isFile); err == nil {
			a.evaluators, err = a.text.evaluators(a.game, e, a.name, a.options.Weights)
		}
	case colon:
		err = fmt.Errorf("%s takes no options", a.name)
	}
	return err
}

// A Factory creates an agent for one game, whose random choices follow from seed. A Factory is safe for concurrent use,
// its agents are not. Agents that implement io.Closer must be closed after their game.
type Factory func(seed uint64) (env.Agent, error)

// Factory fails if the agent cannot play where one action is asked for at a time, or its options do not fit.
func (a *Agent) Factory() (_ Factory, err error) {
	defer named(a.Spec, &err)
	e := Of(a.game)
	fixed := e.Fixed[a.name]
	switch {
	case a.Kind == Human:
		return nil, errors.New("a person plays with agents play, in a terminal or with --web: " +
			"want an agent that plays by itself here")
	case a.Kind == Submission && a.program.Argv == nil:
		return nil, errors.New("sources are compiled by agents play, arena, ladder, host and tournament: " +
			"want an agent or exec:CMD here")
	case a.Kind != Ours && e.Codec == nil:
		return nil, fmt.Errorf("a program cannot play %s here, because its contest does not ask for one action at a time: "+
			"want one of %s", a.game.Name, strings.Join(Names(a.game), ", "))
	case a.Kind != Ours:
		return func(uint64) (env.Agent, error) {
			return contest.External(e.Codec(a.game, io.Discard, nil), a.program), nil
		}, nil
	case fixed != nil:
		p := &pool{create: func() (env.Agent, error) { return fixed(), nil }} // without a memory, as searches are
		return withEpsilon(func(uint64) (env.Agent, error) { return &pooledAgent{pool: p}, nil }, a.options.Eps), nil
	case a.name == "random":
		return func(seed uint64) (env.Agent, error) { return search.NewRandom(seed), nil }, nil
	case a.name == "first":
		return func(uint64) (env.Agent, error) { return search.NewFirst(), nil }, nil
	}
	return searcher(a.game, searchOf(e), a.evaluators.create, a.options)
}

// Player returns the agent as a program that plays; see Program.
func (a *Agent) Player() (contest.Player, error) {
	p, err := a.Program()
	return contest.Player{Program: p, Name: a.Name, Agent: a.Recorded()}, err
}

// Program returns how the agent is started as a program: one of ours is this executable, "bot GAME --agent SPEC".
func (a *Agent) Program() (contest.Program, error) {
	switch {
	case a.Kind == Human:
		return a.program, fmt.Errorf("agent %q: a person plays with agents play, contests are between programs", a.Spec)
	case a.Kind == Submission && a.program.Argv == nil:
		return a.program, fmt.Errorf("agent %.80q: its sources are not compiled yet", a.Spec)
	case a.Kind != Ours:
		return a.program, nil
	case Of(a.game).Codec == nil:
		return a.program, fmt.Errorf("agent %.80q: agents bot cannot play %[2]s: "+
			"make a program of it with agents bundle %[2]s", a.Spec, a.game.Name)
	}
	return a.self()
}

// self returns this executable as the program that plays the agent.
func (a *Agent) self() (contest.Program, error) {
	game := a.game.Name
	if a.game.Table != nil { // which the contest tells its programs when a game starts
		game = entry.Base(a.game)
	}
	self, err := os.Executable()
	return contest.Program{Argv: []string{self, "bot", game, "--agent", a.Spec}, Cage: contest.Trusted}, err
}

// policyPrefix begins the text of an agent that is a policy of Python, unless it is FILE.py:NAME.
const policyPrefix = "policy:"

var policy = regexp.MustCompile(`^(` + policyPrefix + `.+|.+\.py:[\pL_][\pL\pN_]*)$`)

// Policy returns the file of a policy of Python, with its name in it, and whether text is one.
func Policy(text string) (what string, ok bool) {
	_, spec := Alias(text)
	return strings.TrimPrefix(spec, policyPrefix), policy.MatchString(spec)
}

// Python is the variable by which the Python package says what plays policies: a list of paths, of its interpreter and
// of the folders that this reads.
const Python = "BLOCKYARD_PYTHON"

// Files returns what a policy of Python reads: its own file, and what the variable Python lists. Others have none.
func (a *Agent) Files() (own string, list []string) {
	if !a.policy {
		return "", nil
	}
	what, _ := Policy(a.Spec)
	if at := strings.LastIndex(what, ".py:"); at >= 0 {
		what = what[:at+len(".py")]
	}
	return what, filepath.SplitList(os.Getenv(Python))
}

// Recorded is who a record says that played: the alias, or what Parse reads as the same agent.
func (a *Agent) Recorded() string {
	if a.aliased || a.policy || a.Kind == Ours || a.Kind == Human {
		return a.Name
	}
	return execPrefix + strings.TrimPrefix(a.Name, execPrefix)
}

// A Text names an agent and says who wrote it: only the user's own text may start a program or read a file.
type Text struct {
	text    string
	own     bool
	weights entry.Reader // those that came along, by ContentName
}

// Own is text of the user of this program, such as an argument. TestCallersOfOwn in env lists who calls it, and why.
func Own(text string) Text { return Text{text: text, own: true} }

// Foreign is text of anybody else. It only names agents of this program, and weights by content that came with it.
func Foreign(text string, weights entry.Reader) Text { return Text{text: text, weights: weights} }

// With returns t with other weights: those that came along with it, by ContentName.
func (t Text) With(weights entry.Reader) Text {
	t.weights = weights
	return t
}

// String returns the text as it was given, without saying who wrote it.
func (t Text) String() string { return t.text }

const ContentPrefix = "sha256:" // begins the name of weights that are named by content

var contentName = regexp.MustCompile(`^` + ContentPrefix + `[0-9a-f]{64}$`)

// ContentName is the name of weights by content: ContentPrefix and their SHA-256 in hexadecimal.
func ContentName(data []byte) string {
	sum := sha256.Sum256(data)
	return ContentPrefix + hex.EncodeToString(sum[:])
}

// ErrUntrusted is wrapped by errors about foreign text that reads files or runs commands.
var ErrUntrusted = errors.New("reads files or runs commands on this machine")

// Read returns the weights that the text names: those that came along with it, or, if it is the user's, a file.
func (t Text) Read(name string) ([]byte, error) {
	switch {
	case strings.HasPrefix(name, ContentPrefix) && t.weights != nil:
		if !contentName.MatchString(name) {
			return nil, fmt.Errorf("%.80q: want %s and 64 hexadecimal digits", name, ContentPrefix)
		}
		data, err := t.weights(name)
		if err == nil && ContentName(data) != name {
			err = fmt.Errorf("%.80s: its %d bytes are other weights, %s", name, len(data), ContentName(data))
		}
		return data, err
	case t.own:
		return mlp.ReadFile(name)
	}
	return nil, ErrUntrusted
}

// isFile says which weights there are: what is named by content, and the files of a text that may read them.
func (t Text) isFile(path string) bool {
	if !t.own || contentName.MatchString(path) {
		return contentName.MatchString(path)
	}
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// Portable returns the spec of an agent and its weights, named by content, as Foreign reads them elsewhere; name is
// empty without weights. The error for what is no agent of this program wraps ErrUntrusted.
func (a *Agent) Portable() (spec, name string, data []byte, err error) {
	if a.Kind != Ours || a.options.Weights == "" {
		if a.Kind != Ours {
			err = fmt.Errorf("agent %.80q: %w", a.Spec, ErrUntrusted)
		}
		return a.Spec, "", nil, err
	}
	if data, err = a.text.Read(a.options.Weights); err != nil {
		return "", "", nil, fmt.Errorf("agent %.80q: %w", a.Spec, err)
	}
	name = ContentName(data)
	_, options, _ := strings.Cut(a.Spec, ":")
	settings, err := entry.SplitOptions(options, a.text.isFile)
	parts := make([]string, len(settings))
	for k, s := range settings {
		if s.Key == entry.WeightsOption {
			s.Value = name
		}
		parts[k] = s.Key + "=" + s.Value
	}
	return a.name + ":" + strings.Join(parts, ","), name, data, err
}
