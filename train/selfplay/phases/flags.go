package phases

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/alecthomas/kong"

	"blockyard/train/games"
	"blockyard/train/selfplay"
)

// Flags are the flags of a new run in a game of several seats.
type Flags struct {
	Results     *float64 `help:"${results}" placeholder:"SHARE" group:"Games of several seats"`
	Ensemble    *int     `help:"${ensemble}" placeholder:"N" group:"Games of several seats"`
	Backup      *float64 `help:"${backup}" placeholder:"SHARE" group:"Games of several seats"`
	Actor       *float64 `help:"${actor}" placeholder:"SHARE" group:"Games of several seats"`
	Versus      *float64 `help:"${versus}" placeholder:"SHARE" group:"Games of several seats"`
	Opponents   []string `help:"${opponents}" placeholder:"AGENT" group:"Games of several seats"`
	GatePairs   *int     `help:"${gate_pairs}" placeholder:"N" group:"Games of several seats"`
	GatePly     *int     `help:"${gate_ply}" placeholder:"N" group:"Games of several seats"`
	GateAgainst []string `help:"${gate_against}" placeholder:"AGENT" group:"Games of several seats"`
	GateElo     *float64 `help:"${gate_elo}" placeholder:"ELO" group:"Games of several seats"`

	Samples        *int     `help:"${samples}" placeholder:"N" group:"With --backup"`
	Look           *int     `help:"${look}" placeholder:"N" group:"With --backup"`
	LogOdds        *bool    `negatable:"" help:"${log_odds}" group:"With --backup"`
	WithinDecision *bool    `negatable:"" help:"${within_decision}" group:"With --backup"`
	RateBackup     *float64 `help:"${rate_backup}" placeholder:"X" group:"With --backup"`

	RateWarm *float64 `help:"${rate_warm}" placeholder:"X" group:"TD(λ)"`
	Imitate  *float64 `help:"${imitate}" placeholder:"X" group:"TD(λ)"`
	Others   *int     `help:"${others}" placeholder:"N" group:"TD(λ)"`
	Deep     *float64 `help:"${deep}" placeholder:"SHARE" group:"TD(λ)"`

	Temperature  *float64 `help:"${temperature}" placeholder:"X" group:"With --actor"`
	Step         *float64 `help:"${step}" placeholder:"X" group:"With --actor"`
	ActorBatch   *int     `help:"${actor_batch}" placeholder:"N" group:"With --actor"`
	ActorRate    *float64 `help:"${actor_rate}" placeholder:"X" group:"With --actor"`
	ActorRateEnd *float64 `help:"${actor_rate_end}" placeholder:"X" group:"With --actor"`
}

// FlagHelp are the help texts of Flags.
var FlagHelp = kong.Vars{
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
	"rate_warm":   "Learning rate of the warm start. Default: 0.001.",
	"imitate":     "Weight of the baseline evaluator's opinion in the targets of the warm start. Default: 0.5.",
	"others":      "Choices not made that are learned as well in the warm start. Default: 2.",
	"deep": "Share of the budget, the last of TD(λ), in which games are played two plies deep. " +
		"Default: 0, with --from-zero 0.25 in games with random draws.",
	"temperature":    "Temperature of the softmax that chooses for the actor; the lower, the greedier. Default: 0.05.",
	"step":           "How far an advantage moves the actor. Default: 1.",
	"actor_batch":    "Rows per step of the actor's optimiser, two per pair of choices. Default: 1024.",
	"actor_rate":     "Learning rate of actor and critic when the actor begins. Default: 0.0005, with --from-zero 0.0003.",
	"actor_rate_end": "Their learning rate at the end. Default: 0.0001, with --from-zero 0.00003.",
}

// Parts of a run that flags are for.
const (
	seats  = "games of several seats"
	versus = "games against opponents"
	backup = "fitted value iteration"
	values = "TD(λ) on the results of games"
	lambda = "TD(λ) without an actor"
	warm   = "the warm start of games of several seats"
	deep   = "two-ply TD(λ)"
	actor  = "the actor"
)

// parts says which parts a run with these settings has.
func (c *Config) parts() map[string]selfplay.Part {
	results := c.Backup < 1 || c.Results > 0
	lambdas := results && (c.Results > 0 || c.actorFrom() > max(c.Warm, c.Backup))
	return map[string]selfplay.Part{
		seats:  {Used: true},
		versus: {Used: c.Versus > 0, Hint: "give --versus a share above 0"},
		backup: {Used: c.Backup > 0, Hint: "give --backup a share above 0"},
		values: {Used: results, Hint: "--backup has the whole budget: lower it"},
		lambda: {Used: lambdas, Hint: "lower --actor or --backup"},
		warm:   {Used: c.Warm > 0, Hint: "give --warm a share above 0"},
		deep:   {Used: results && c.Deep > 0, Hint: "give --deep a share above 0"},
		actor: {Used: c.Actor > 0 && c.actorFrom() < 1,
			Hint: "give --actor a share above 0, of what --backup and --warm leave"},
	}
}

// Config returns the settings of the run of a game of several seats that the flags ask for. What they leave open
// depends on whether there is a backup, and that on the game.
func (f *Flags) Config(g *games.Game, run *selfplay.Flags) (*Config, error) {
	if err := cmp.Or(
		run.NoTeacher("versus", f.Versus != nil && *f.Versus > 0), run.NoTeacher("opponents", len(f.Opponents) > 0),
	); err != nil {
		return nil, err
	}
	c, share := Default(), 0.0
	if g.Start != nil {
		share = 1
	}
	if f.Backup != nil {
		share = *f.Backup
	}
	if run.FromZero {
		c = f.zero(g, run)
	} else if share > 0 {
		c = DefaultBackup()
		c.Backup, c.Actor = share, max(0, 1-share)
	}
	run.Apply(&c.Options)
	flags := append(f.set(&c), selfplay.Set("warm", run.Warm, &c.Warm, values),
		selfplay.Set("lambda", run.Lambda, &c.Lambda, values), selfplay.Set("rate", run.Rate, &c.RateFrom, lambda),
		selfplay.Set("rate-end", run.RateEnd, &c.RateTo, lambda),
		selfplay.Set("deep-width", run.DeepWidth, &c.DeepWidth, backup, deep))
	if f.Ensemble == nil && (c.Results == 0 || len(c.Hidden) != 1) {
		c.Ensemble = 0
	}
	if run.FromZero && c.Backup > 0 && c.Results == 0 {
		return nil, errors.New("--from-zero: a backup needs a net to start from: give --results a share above 0")
	}
	if err := c.Check(g); err != nil {
		return nil, fmt.Errorf("%s: %w", g.Rules.Name, err)
	}
	return &c, selfplay.Refuse(flags, c.parts())
}

// Refuse returns an error for the first flag that was given, in a game of one seat.
func (f *Flags) Refuse() error {
	none := new(Config).parts()
	for name := range none {
		none[name] = selfplay.Part{Hint: "this game has one seat"}
	}
	return selfplay.Refuse(f.set(new(Config)), none)
}

func (f *Flags) set(c *Config) []selfplay.Flag {
	return []selfplay.Flag{
		selfplay.Set("results", f.Results, &c.Results, backup),
		selfplay.Set("ensemble", f.Ensemble, &c.Ensemble, backup),
		selfplay.Set("backup", f.Backup, &c.Backup, seats),
		selfplay.Set("actor", f.Actor, &c.Actor, seats),
		selfplay.Set("versus", f.Versus, &c.Versus, seats),
		selfplay.SetList("opponents", f.Opponents, &c.Opponents, versus),
		selfplay.Set("gate-pairs", f.GatePairs, &c.GatePairs, seats),
		selfplay.Set("gate-ply", f.GatePly, &c.GatePly, seats),
		selfplay.SetList("gate-against", f.GateAgainst, &c.GateAgainst, seats),
		selfplay.Set("gate-elo", f.GateElo, &c.GateElo, seats),

		selfplay.Set("samples", f.Samples, &c.Samples, backup),
		selfplay.Set("look", f.Look, &c.Look, backup),
		selfplay.Set("log-odds", f.LogOdds, &c.LogOdds, backup),
		selfplay.Set("within-decision", f.WithinDecision, &c.WithinDecision, backup),
		selfplay.Set("rate-backup", f.RateBackup, &c.RateBackup, backup),

		selfplay.Set("rate-warm", f.RateWarm, &c.RateWarm, warm),
		selfplay.Set("imitate", f.Imitate, &c.Imitate, warm),
		selfplay.Set("others", f.Others, &c.Others, warm),
		selfplay.Set("deep", f.Deep, &c.Deep, values),

		selfplay.Set("temperature", f.Temperature, &c.Temperature, actor),
		selfplay.Set("step", f.Step, &c.Step, actor),
		selfplay.Set("actor-batch", f.ActorBatch, &c.ActorBatch, actor),
		selfplay.Set("actor-rate", f.ActorRate, &c.ActorFrom, actor),
		selfplay.Set("actor-rate-end", f.ActorRateEnd, &c.ActorTo, actor),
	}
}

// zero is a run from random weights. Of the shares of results and backup, the one that is not given is what the other
// and the actor leave; with both, the actor has what they leave. Without a backup all is results. The last part of the
// results is played two plies deep, the same part of them whatever their share.
func (f *Flags) zero(g *games.Game, run *selfplay.Flags) Config {
	c := FromZero(g)
	last := c.Deep / max(c.Results, 1e-9) // the part of the results
	selfplay.Set("actor", f.Actor, &c.Actor)
	switch {
	case c.Backup == 0:
	case f.Backup != nil && f.Results != nil:
		c.Results, c.Actor = *f.Results, min(c.Actor, max(0, 1-*f.Results-*f.Backup))
	case f.Results != nil:
		c.Results, c.Backup = *f.Results, max(0, 1-*f.Results-c.Actor)
	case f.Backup != nil && *f.Backup > 0:
		c.Results = max(0, 1-*f.Backup-c.Actor)
	case f.Backup != nil:
		c.Results, c.Actor = 0, 0
	}
	c.Deep = last * cmp.Or(c.Results, 1)
	c.Ensemble = affordable(c.Ensemble, c.Iterations, run)
	return c
}

// affordable is how many of an ensemble's nets the budget has time for, if all of them need that many iterations or, on
// a machine with little else to do, 15 minutes.
func affordable(all, iterations int, run *selfplay.Flags) int {
	n := all
	if run.Iterations != nil {
		n = all * *run.Iterations / iterations
	}
	if run.For != nil && *run.For > 0 {
		n = all * int(*run.For/time.Minute) / 15
	}
	return min(max(1, n), all)
}
