package commands

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"strings"
	"time"

	"blockyard/train/games"
	"blockyard/train/selfplay"
	"blockyard/train/selfplay/phases"
	"blockyard/train/selfplay/single"

	"github.com/alecthomas/kong"
)

// settings are the flags of a new run. One that is nil was not given. The tag "uses" names the
// parts of a run of which one must be there for the flag to count; see uses. The tags "phases" and
// "single" name the field of that package's Config, if it has another name than the flag's field.
type settings struct {
	FromZero   bool           `help:"${from_zero}" group:"Any run"`
	From       string         `help:"${from}" placeholder:"FILE" group:"Any run"`
	Seed       *uint64        `help:"${seed}" placeholder:"N" group:"Any run"`
	Iterations *int           `help:"${iterations}" placeholder:"N" group:"Any run"`
	For        *time.Duration `help:"${for}" placeholder:"10m" group:"Any run"`
	Hidden     []int          `help:"${hidden}" placeholder:"N" group:"Any run"`
	Games      *int           `help:"${games}" placeholder:"N" group:"Any run"`
	Rounds     *int           `help:"${rounds}" placeholder:"N" group:"Any run"`
	Batch      *int           `help:"${batch}" placeholder:"N" group:"Any run"`
	Mean       *int           `help:"${mean}" placeholder:"N" group:"Any run"`
	Explore    *float64       `help:"${explore}" placeholder:"X" group:"Any run"`
	Late       *float64       `help:"${late}" placeholder:"SHARE" group:"Any run"`
	Gates      *int           `help:"${gates}" placeholder:"N" group:"Any run"`

	Results     *float64 `uses:"backup" help:"${results}" placeholder:"SHARE" group:"Games of several seats"`
	Ensemble    *int     `uses:"backup" help:"${ensemble}" placeholder:"N" group:"Games of several seats"`
	Backup      *float64 `uses:"seats" help:"${backup}" placeholder:"SHARE" group:"Games of several seats"`
	Actor       *float64 `uses:"seats" help:"${actor}" placeholder:"SHARE" group:"Games of several seats"`
	Versus      *float64 `uses:"seats" help:"${versus}" placeholder:"SHARE" group:"Games of several seats"`
	Opponents   []string `uses:"versus" help:"${opponents}" placeholder:"AGENT" group:"Games of several seats"`
	GatePairs   *int     `uses:"seats" help:"${gate_pairs}" placeholder:"N" group:"Games of several seats"`
	GatePly     *int     `uses:"seats" help:"${gate_ply}" placeholder:"N" group:"Games of several seats"`
	GateAgainst []string `uses:"seats" help:"${gate_against}" placeholder:"AGENT" group:"Games of several seats"`
	GateElo     *float64 `uses:"seats" help:"${gate_elo}" placeholder:"ELO" group:"Games of several seats"`

	Samples        *int     `uses:"backup" help:"${samples}" placeholder:"N" group:"With --backup"`
	Look           *int     `uses:"backup" help:"${look}" placeholder:"N" group:"With --backup"`
	LogOdds        *bool    `uses:"backup" negatable:"" help:"${log_odds}" group:"With --backup"`
	WithinDecision *bool    `uses:"backup" negatable:"" help:"${within_decision}" group:"With --backup"`
	RateBackup     *float64 `uses:"backup" help:"${rate_backup}" placeholder:"X" group:"With --backup"`

	Warm     *float64 `uses:"values planner" help:"${warm}" placeholder:"SHARE" group:"TD(λ)"`
	RateWarm *float64 `uses:"warm" help:"${rate_warm}" placeholder:"X" group:"TD(λ)"`
	Imitate  *float64 `uses:"warm" help:"${imitate}" placeholder:"X" group:"TD(λ)"`
	Others   *int     `uses:"warm" help:"${others}" placeholder:"N" group:"TD(λ)"`
	Lambda   *float64 `uses:"values single" help:"${lambda}" placeholder:"X" group:"TD(λ)"`
	Discount *float64 `uses:"planner" help:"${discount}" placeholder:"X" group:"TD(λ)"`
	Rate     *float64 `uses:"lambda single" phases:"RateFrom" help:"${rate}" placeholder:"X" group:"TD(λ)"`
	RateEnd  *float64 `uses:"lambda single" phases:"RateTo" help:"${rate_end}" placeholder:"X" group:"TD(λ)"`
	Deep     *float64 `uses:"values" help:"${deep}" placeholder:"SHARE" group:"TD(λ)"`

	DeepWidth *int `uses:"backup deep planner" single:"Width" help:"${deep_width}" placeholder:"N" group:"TD(λ)"`

	Temperature  *float64 `uses:"actor" help:"${temperature}" placeholder:"X" group:"With --actor"`
	Step         *float64 `uses:"actor" help:"${step}" placeholder:"X" group:"With --actor"`
	ActorBatch   *int     `uses:"actor" help:"${actor_batch}" placeholder:"N" group:"With --actor"`
	ActorRate    *float64 `uses:"actor" phases:"ActorFrom" help:"${actor_rate}" placeholder:"X" group:"With --actor"`
	ActorRateEnd *float64 `uses:"actor" phases:"ActorTo" help:"${actor_rate_end}" placeholder:"X" group:"With --actor"`

	Keep      *int `uses:"single" help:"${keep}" placeholder:"N" group:"Games of one seat"`
	Longest   *int `uses:"single" help:"${longest}" placeholder:"N" group:"Games of one seat"`
	GateGames *int `uses:"single" help:"${gate_games}" placeholder:"N" group:"Games of one seat"`
	GateSteps *int `uses:"single" help:"${gate_steps}" placeholder:"N" group:"Games of one seat"`
}

// uses are the parts that a run may have: what a flag belongs to, and how to get it.
var uses = map[string]struct{ name, hint string }{
	"seats":   {"games of several seats", "this game has one seat"},
	"single":  {"games of one seat", "this game has several"},
	"versus":  {"games against opponents", "give --versus a share above 0, if the game has several seats"},
	"planner": {"games with a planner (Dropblox)", ""},
	"backup":  {"fitted value iteration", "give --backup a share above 0, if the game has several seats"},
	"values":  {"TD(λ) on the results of games", "--backup has the whole budget (lower it), or the game has one seat"},
	"lambda":  {"TD(λ) without an actor", "lower --actor or --backup"},
	"warm":    {"the warm start of games of several seats", "give --warm a share above 0"},
	"deep":    {"two-ply TD(λ)", "give --deep a share above 0"},
	"actor":   {"the actor", "give --actor a share above 0, of what --backup and --warm leave"},
}

// algorithm is the run that the flags ask for.
func (s *settings) algorithm(g *games.Game) (selfplay.Algorithm, error) {
	if err := s.teacher(); err != nil {
		return nil, err
	}
	if g.Solo != nil {
		c := single.Default()
		if s.FromZero {
			c = single.FromZero(g)
		}
		s.apply("single", &c)
		if s.Discount != nil && c.Discount == 0 {
			return nil, errors.New("--discount is 0, want more than 0, up to 1")
		}
		return &c, s.refuse(map[string]bool{"single": true, "planner": g.Solo.Planner != nil})
	}
	return s.phases(g)
}

// phases is the run of a game of several seats that the flags ask for. What they leave open
// depends on whether there is a backup, and that on the game.
func (s *settings) phases(g *games.Game) (*phases.Config, error) {
	c := phases.Default()
	backup := 0.0
	if g.Start != nil {
		backup = 1
	}
	if s.Backup != nil {
		backup = *s.Backup
	}
	if s.FromZero {
		c = s.zero(g)
	} else if backup > 0 {
		c = phases.DefaultBackup()
		c.Backup, c.Actor = backup, max(0, 1-backup)
	}
	s.apply("phases", &c)
	if s.Ensemble == nil && (c.Results == 0 || len(c.Hidden) != 1) {
		c.Ensemble = 0
	}
	if s.FromZero && c.Backup > 0 && c.Results == 0 {
		return nil, errors.New("--from-zero: a backup needs a net to start from: give --results a share above 0")
	}
	if err := c.Check(g); err != nil {
		return nil, fmt.Errorf("%s: %w", g.Rules.Name, err)
	}
	values, begins := c.Backup < 1 || c.Results > 0, max(c.Warm, c.Results+c.Backup, 1-c.Actor)
	return &c, s.refuse(map[string]bool{
		"seats": true, "versus": c.Versus > 0, "backup": c.Backup > 0, "values": values, "warm": c.Warm > 0,
		"lambda": values && (c.Results > 0 || begins > max(c.Warm, c.Backup)), "deep": values && c.Deep > 0,
		"actor": c.Actor > 0 && begins < 1,
	})
}

// zero is a run from random weights. Of the shares of results and backup, the one that is not given is what the other
// and the actor leave; with both, the actor has what they leave. Without a backup all is results. The last part of the
// results is played two plies deep, the same part of them whatever their share.
func (s *settings) zero(g *games.Game) phases.Config {
	c := phases.FromZero(g)
	deep := c.Deep / max(c.Results, 1e-9) // the part of the results
	if s.Actor != nil {
		c.Actor = *s.Actor
	}
	switch {
	case c.Backup == 0:
	case s.Backup != nil && s.Results != nil:
		c.Results, c.Actor = *s.Results, min(c.Actor, max(0, 1-*s.Results-*s.Backup))
	case s.Results != nil:
		c.Results, c.Backup = *s.Results, max(0, 1-*s.Results-c.Actor)
	case s.Backup != nil && *s.Backup > 0:
		c.Results = max(0, 1-*s.Backup-c.Actor)
	case s.Backup != nil:
		c.Results, c.Actor = 0, 0
	}
	c.Deep = deep * cmp.Or(c.Results, 1)
	c.Ensemble = s.members(c.Ensemble, c.Iterations)
	return c
}

// members is how many of an ensemble's nets the budget has time for, if all of them need that many iterations or, on a
// machine with little else to do, 15 minutes.
func (s *settings) members(all, iterations int) int {
	n := all
	if s.Iterations != nil {
		n = all * *s.Iterations / iterations
	}
	if s.For != nil && *s.For > 0 {
		n = all * int(*s.For/time.Minute) / 15
	}
	return min(max(1, n), all)
}

// teacher returns an error for a flag that lets the baseline evaluator teach a run from zero.
func (s *settings) teacher() error {
	above := func(share *float64) bool { return share != nil && *share > 0 }
	for name, given := range map[string]bool{
		"from": s.From != "", "warm": above(s.Warm), "versus": above(s.Versus), "opponents": len(s.Opponents) > 0,
	} {
		if s.FromZero && given {
			return fmt.Errorf("--from-zero and --%s: a run from zero has random weights and no teacher; leave out one of them",
				name)
		}
	}
	return nil
}

// apply sets the fields of an algorithm for which flags were given. With a budget of time
// there is a gate per minute at most by default.
func (s *settings) apply(pkg string, config selfplay.Algorithm) {
	timed := s.For != nil && *s.For > 0
	o := config.Common()
	if timed {
		o.Gates = min(o.Gates, max(1, int(*s.For/time.Minute)))
	}
	to := reflect.ValueOf(config).Elem()
	for f, v := range s.given() {
		if field := to.FieldByName(cmp.Or(f.Tag.Get(pkg), f.Name)); field.IsValid() {
			field.Set(v)
		}
	}
	if timed {
		o.Iterations = 0
	}
}

// refuse returns an error for the first flag that was given and belongs to no part of the run.
func (s *settings) refuse(parts map[string]bool) error {
	for f := range s.given() {
		need := strings.Fields(f.Tag.Get("uses"))
		if len(need) == 0 || slices.ContainsFunc(need, func(part string) bool { return parts[part] }) {
			continue
		}
		var names []string
		for _, part := range need {
			names = append(names, uses[part].name)
		}
		return fmt.Errorf("--%s belongs to %s, which this run does not use: %s",
			flagName(f.Name), strings.Join(names, " or "), uses[need[0]].hint)
	}
	return nil
}

// given yields the flags that were given, with their values.
func (s *settings) given() iter.Seq2[reflect.StructField, reflect.Value] {
	return func(yield func(reflect.StructField, reflect.Value) bool) {
		all := reflect.ValueOf(s).Elem()
		for i := range all.NumField() {
			v := all.Field(i)
			if v.IsZero() || v.Kind() == reflect.String || v.Kind() == reflect.Bool {
				continue
			}
			if v.Kind() == reflect.Pointer {
				v = v.Elem()
			}
			if !yield(all.Type().Field(i), v) {
				return
			}
		}
	}
}

// flagName is a field's name as kong makes a flag of it: ActorRate is actor-rate.
func flagName(field string) string {
	var b strings.Builder
	for i, r := range field {
		if i > 0 && r >= 'A' && r <= 'Z' {
			b.WriteByte('-')
		}
		b.WriteRune(r)
	}
	return strings.ToLower(b.String())
}

// helps are the help texts of settings, by flag.
var helps = kong.Vars{
	"from": "Net to start from instead of random weights; --warm 0 is usual then.",
	"from_zero": "Learn without a teacher: from random weights, and the baseline evaluator is only the opponent in " +
		"gates. First from the results of games, then, with two seats, by search backups. " +
		"The other flags still count; some have other defaults then, which are listed in train/README.md.",
	"seed":       "Seed of everything random. Default: 1.",
	"iterations": "Budget: rollouts of self-play. Default: 1200 with --backup, about ten minutes on two cores, else 3000.",
	"for": "Budget as wall-clock time instead, gates included: the command ends at about that time. " +
		"Gates play fewer games if theirs would take more than a quarter of it. Such a run cannot be repeated exactly.",
	"hidden":  "Sizes of the hidden layers. Default: 48 with --backup, else 32.",
	"games":   "Games played side by side. Default: 64.",
	"rounds":  "Steps of each game in a rollout; with --backup a 16th, because each row costs a search. Default: 64.",
	"batch":   "Rows per step of the optimiser. Default: 256 with --backup and for one seat, else 512.",
	"mean":    "Iterations over which weights are averaged. Default: 30.",
	"explore": "Probability of a random choice; an actor explores by itself. Default: 0.02, for one seat 0.",
	"late": "Share of games that start from a late or damaged position. " +
		"Default: 0.25 with --backup, 0.3 for one seat, else 0.1.",
	"gates": "How often the network is evaluated and saved. Default: 6 with --backup, else 10, " +
		"and with --for one per minute at most.",

	"results": "Share of the budget, the first, for TD(λ) on the results of games before the --backup, which then " +
		"starts from that network. Default: 0, with --from-zero two thirds in games with " +
		"random draws, else a third.",
	"ensemble": "Networks that --results trains, one after the other, each from random weights of its own. Their mean, " +
		"one network of as many times --hidden units, is what the backup starts from. Default: 1, with --from-zero, in " +
		"games with random draws, one for 1200 --iterations or 5 minutes, at most 3.",
	"backup": "Share of the budget, the first or after --results, for fitted value iteration: a network that starts as " +
		"the baseline evaluator learns what a search with it finds, and from gate to gate what a search with the " +
		"network so far finds. Default: 1 if the game offers it, else 0.",
	"actor": "Share of the budget, the last after --backup and --warm, for an actor-critic: a second network, the " +
		"actor, learns by policy gradient and is what is gated and saved. 0: values alone. Default: what --backup leaves.",
	"versus": "Share of games with an opponent (--opponents) in one seat; not in the warm start. Default: 0.",
	"opponents": "Agents that the games of --versus are played against, such as hand,combo,tspin,quad,skipper,digger " +
		"in Block Battle. Each game draws one of them, all with equal probability; it evaluates one ply deep, and " +
		"nothing is learned from its choices. Default: hand, the baseline evaluator.",
	"gate_pairs": "Pairs of games per gate and opponent. Default: 200.",
	"gate_ply":   "Plies that both sides search in a gate. Default: 2.",
	"gate_against": "Agents that a gate plays against in place of hand, such as hand,combo,tspin,skipper in Block " +
		"Battle, for --gate-pairs in all. The network then becomes the best one only if it also scores no less against " +
		"them than the best one did. Weights that an agent names are copied into the run's folder. Programs, such as " +
		"exec:./bot, must be named again with --resume. Default: hand alone, which does not decide.",
	"gate_elo": "Let a gate play against the best network so far until a sequential test decides between equal strength " +
		"and this many Elo more, for up to four times --gate-pairs. 0: no test. Default: 0, with --from-zero 20.",

	"samples": "Positions per decision that are searched further and learned from. Default: 4, with --from-zero 8.",
	"look": "Plies that each of them is searched further. 1: one more, over all draws. More, in turn-based games: " +
		"both seats play on as the network prefers. More, in other games: each further choice is made two plies deep, " +
		"and the result is averaged over futures that cover every draw. Default: 1.",
	"log_odds": "Take the network's values as log odds of winning: the mean over draws is one of probabilities, and " +
		"so is the loss. Default: yes with --from-zero in games with random draws, else no.",
	"within_decision": "Compare what a search finds within each decision only: subtract the mean of its samples, not " +
		"the running mean of all. Default: as --log-odds.",
	"rate_backup": "Learning rate after each gate. Default: 0.001.",

	"warm": "Share of the budget in which the baseline evaluator plays. " +
		"Default: 0.15 if the budget has no --backup and the game several seats, else 0.",
	"rate_warm": "Learning rate of the warm start. Default: 0.001.",
	"imitate":   "Weight of the baseline evaluator's opinion in the targets of the warm start. Default: 0.5.",
	"others":    "Choices not made that are learned as well in the warm start. Default: 2.",
	"lambda":    "λ of the returns, 0 to 1. Default: 0.9, for one seat 0.5.",
	"discount":  "γ of the returns per turn in Dropblox, above 0 to 1. Default: 1, with --from-zero 0.9995.",
	"rate":      "Learning rate after the warm start, without an actor. Default: 0.0002, for one seat 0.001.",
	"rate_end":  "Learning rate at the end. Default: 0.00001, for one seat 0.00002.",
	"deep": "Share of the budget, the last of TD(λ), in which games are played two plies deep. " +
		"Default: 0, with --from-zero 0.25 in games with random draws.",
	"deep_width": "First choices searched two plies deep with --backup and --deep; in Dropblox the width of the search. " +
		"Default: 8 with --backup, else 4, in Dropblox 6.",

	"temperature":    "Temperature of the softmax that chooses for the actor; the lower, the greedier. Default: 0.05.",
	"step":           "How far an advantage moves the actor. Default: 1.",
	"actor_batch":    "Rows per step of the actor's optimiser, two per pair of choices. Default: 1024.",
	"actor_rate":     "Learning rate of actor and critic when the actor begins. Default: 0.0005, with --from-zero 0.0003.",
	"actor_rate_end": "Their learning rate at the end. Default: 0.0001, with --from-zero 0.00003.",

	"keep":       "Rollouts that every fit learns from, the last ones. Default: 1.",
	"longest":    "Choices after which a game is left for a new one. Default: 2000.",
	"gate_games": "Games of a gate. Default: 64, in Dropblox with --from-zero 40.",
	"gate_steps": "Choices after which such a game is stopped. Default: 10000.",
}
