package main

import (
	"time"

	"blockyard/train/selfplay"
	"blockyard/train/task"
)

// settings are the flags of a new run.
type settings struct {
	Seed         uint64        `help:"Everything random follows from it." default:"1" group:"New run"`
	Iterations   *int          `help:"Budget: stretches of self-play. Default: 1200 with --backup, some ten minutes on two cores, else 3000." placeholder:"N" group:"New run"`
	For          time.Duration `help:"Budget as time of playing and fitting instead; such a run cannot be repeated exactly." placeholder:"10m" group:"New run"`
	From         string        `help:"Net to start from instead of random weights; then --warm=0 is usual." placeholder:"FILE" group:"New run"`
	Hidden       []int         `help:"Sizes of the hidden layers. Default: 48 with --backup, else 32." placeholder:"N" group:"New run"`
	Games        int           `help:"Games played side by side." default:"64" group:"New run"`
	Rounds       int           `help:"Rounds of each game in a stretch; with --backup a 16th, for its rows cost a search." default:"64" group:"New run"`
	Batch        *int          `help:"Rows per step of the optimiser. Default: 256 with --backup, else 512." placeholder:"N" group:"New run"`
	Lambda       *float64      `help:"λ of the returns, 0 to 1. Default: 0.9, for one seat 0.5." placeholder:"X" group:"New run"`
	Mean         int           `help:"Iterations over which weights are averaged; the mean plays." default:"30" group:"New run"`
	RateWarm     float64       `help:"Learning rate of the warm start." default:"0.001" group:"New run"`
	Rate         *float64      `help:"Learning rate after it, without an actor. Default: 0.0002, for one seat 0.001." placeholder:"X" group:"New run"`
	RateEnd      *float64      `help:"Learning rate at the end. Default: 0.00001, for one seat 0.00002." placeholder:"X" group:"New run"`
	Backup       *float64      `help:"Share of the budget, the first, in which a net that starts as the hand-tuned evaluator learns what a search with it finds, and from gate to gate what a search with the net so far finds. Default: 1 where the game offers it, else 0." placeholder:"SHARE" group:"New run"`
	Samples      int           `help:"Positions a decision there is learnt from." default:"4" group:"New run"`
	Look         int           `help:"Choices each of them looks further. 1: one more, with all draws. More, where seats take turns: both play on as the net likes best; elsewhere the last one is made two choices deep, as in play, with every draw in one of the futures compared." default:"1" group:"New run"`
	RateBackup   float64       `help:"Learning rate there, after each gate." default:"0.001" group:"New run"`
	Warm         *float64      `help:"Share of the budget in which the hand-tuned player plays. Default: 0 with --backup and for one seat, else 0.15." placeholder:"SHARE" group:"New run"`
	Imitate      float64       `help:"Weight of the hand-tuned player's opinion in the targets of that time." default:"0.5" group:"New run"`
	Others       int           `help:"Choices not made that are learnt as well in that time." default:"2" group:"New run"`
	Actor        *float64      `help:"Share of the budget, the last after the warm start, in which a second net, the actor, learns which choices turn out well (policy gradient) and is what is gated and saved. 0: values alone. Default: what --backup leaves." placeholder:"SHARE" group:"New run"`
	Temperature  float64       `help:"Of the softmax the actor draws its choices from; the lower, the greedier." default:"0.05" group:"New run"`
	Step         float64       `help:"How far an advantage moves the actor." default:"1" group:"New run"`
	ActorBatch   int           `help:"Rows per step of the actor's optimiser, two a pair of choices." default:"1024" group:"New run"`
	ActorRate    float64       `help:"Learning rate, for values too, when the actor begins." default:"0.0005" group:"New run"`
	ActorRateEnd float64       `help:"Learning rate at its end." default:"0.0001" group:"New run"`
	Deep         float64       `help:"Share of the budget, the last, played two choices deep." default:"0" group:"New run"`
	DeepWidth    *int          `help:"First choices that are looked at twice, there and with --backup; in Dropblox the width of the search that plays. Default: 8 with --backup, else 4, in Dropblox 6." placeholder:"N" group:"New run"`
	Explore      *float64      `help:"Chance of a random choice among the best six; an actor explores by itself. Default: 0.02, for one seat 0." placeholder:"X" group:"New run"`
	Late         *float64      `help:"Share of games that start late and damaged. Default: 0.25 with --backup, else 0.1." placeholder:"SHARE" group:"New run"`
	Versus       float64       `help:"Share of games with the hand-tuned player in one seat after the warm start." default:"0" group:"New run"`
	Gates        *int          `help:"How often the net is gated against the best and saved. Default: 6 with --backup, but one a minute of --for at most, else 10." placeholder:"N" group:"New run"`
	GatePairs    int           `help:"Pairs of games per gate and opponent." default:"200" group:"New run"`
	Keep         int           `help:"Stretches that every fit learns from, the last ones, for one seat." default:"1" group:"New run"`
	Longest      *int          `help:"Choices after which a game is left for a new one, for one seat. Default: 2000." placeholder:"N" group:"New run"`
	GateGames    *int          `help:"Games of a gate, for one seat. Default: 64." placeholder:"N" group:"New run"`
	GateSteps    *int          `help:"Choices after which such a game is stopped. Default: 10000." placeholder:"N" group:"New run"`
	GatePly      int           `help:"How many choices ahead both look in a gate." default:"2" group:"New run"`
}

// config is the run the flags ask for. What they leave open depends on whether there is a
// backup, and that on the game.
func (s *settings) config(g *task.Game) selfplay.Config {
	backup := 0.0
	if g.Start != nil {
		backup = 1
	}
	set(&backup, s.Backup)
	c := selfplay.Default()
	if backup > 0 {
		c = selfplay.Backed()
		c.Backup, c.Actor = backup, max(0, 1-backup)
		if s.For > 0 {
			c.Gates = min(c.Gates, max(1, int(s.For/time.Minute)))
		}
	}
	set(&c.Warm, s.Warm)
	set(&c.Actor, s.Actor)
	set(&c.Late, s.Late)
	set(&c.Batch, s.Batch)
	set(&c.DeepWidth, s.DeepWidth)
	set(&c.Gates, s.Gates)
	if s.Hidden != nil {
		c.Hidden = s.Hidden
	}
	c.Seed, c.Games, c.Rounds, c.For = s.Seed, s.Games, s.Rounds, s.For
	set(&c.Iterations, s.Iterations)
	if s.For > 0 {
		c.Iterations = 0
	}
	c.Samples, c.Look, c.RateBackup = s.Samples, s.Look, s.RateBackup
	set(&c.Lambda, s.Lambda)
	set(&c.RateFrom, s.Rate)
	set(&c.RateTo, s.RateEnd)
	set(&c.Explore, s.Explore)
	c.Mean, c.RateWarm = s.Mean, s.RateWarm
	c.Temperature, c.Step, c.ActorBatch, c.ActorFrom, c.ActorTo = s.Temperature, s.Step, s.ActorBatch, s.ActorRate, s.ActorRateEnd
	c.Imitate, c.Others, c.Deep, c.Versus = s.Imitate, s.Others, s.Deep, s.Versus
	c.GatePairs, c.GatePly = s.GatePairs, s.GatePly
	return c
}

// set sets what a flag was given for.
func set[T any](to, flag *T) {
	if flag != nil {
		*to = *flag
	}
}
