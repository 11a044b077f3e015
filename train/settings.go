package main

import (
	"time"

	"blockyard/train/td"
)

// settings are the flags of a new run.
type settings struct {
	Seed         uint64        `help:"Everything random follows from it." default:"1" group:"New run"`
	Iterations   int           `help:"Budget: stretches of self-play, each fitted once." default:"3000" group:"New run"`
	For          time.Duration `help:"Budget as time of playing and fitting instead; such a run cannot be repeated exactly." placeholder:"10m" group:"New run"`
	From         string        `help:"Net to start from instead of random weights; then --warm=0 is usual." placeholder:"FILE" group:"New run"`
	Hidden       []int         `help:"Sizes of the hidden layers." default:"32" group:"New run"`
	Games        int           `help:"Games played side by side." default:"64" group:"New run"`
	Rounds       int           `help:"Rounds of each game in a stretch." default:"64" group:"New run"`
	Batch        int           `help:"Rows per step of the optimiser." default:"512" group:"New run"`
	Lambda       float64       `help:"λ of the returns, 0 to 1." default:"0.9" group:"New run"`
	Mean         int           `help:"Iterations over which weights are averaged; the mean plays." default:"30" group:"New run"`
	RateWarm     float64       `help:"Learning rate of the warm start." default:"0.001" group:"New run"`
	Rate         float64       `help:"Learning rate after it, without an actor." default:"0.0002" group:"New run"`
	RateEnd      float64       `help:"Learning rate at the end." default:"0.00001" group:"New run"`
	Warm         float64       `help:"Share of the budget in which the hand-tuned player plays." default:"0.15" group:"New run"`
	Imitate      float64       `help:"Weight of the hand-tuned player's opinion in the targets of that time." default:"0.5" group:"New run"`
	Others       int           `help:"Choices not made that are learnt as well in that time." default:"2" group:"New run"`
	Actor        float64       `help:"Share of the budget, the last after the warm start, in which a second net, the actor, learns which choices turn out well (policy gradient) and is what is gated and saved. 0: values alone." default:"1" group:"New run"`
	Temperature  float64       `help:"Of the softmax the actor draws its choices from; the lower, the greedier." default:"0.05" group:"New run"`
	Step         float64       `help:"How far an advantage moves the actor." default:"1" group:"New run"`
	ActorBatch   int           `help:"Rows per step of the actor's optimiser, two a pair of choices." default:"1024" group:"New run"`
	ActorRate    float64       `help:"Learning rate, for values too, when the actor begins." default:"0.0005" group:"New run"`
	ActorRateEnd float64       `help:"Learning rate at its end." default:"0.0001" group:"New run"`
	Deep         float64       `help:"Share of the budget, the last, played two choices deep." default:"0" group:"New run"`
	DeepWidth    int           `help:"First choices that are then looked at twice." default:"4" group:"New run"`
	Explore      float64       `help:"Chance of a random choice among the best six; an actor explores by itself." default:"0.02" group:"New run"`
	Late         float64       `help:"Share of games that start late and damaged." default:"0.1" group:"New run"`
	Versus       float64       `help:"Share of games with the hand-tuned player in one seat after the warm start." default:"0" group:"New run"`
	Gates        int           `help:"How often the net is gated against the best and saved." default:"10" group:"New run"`
	GatePairs    int           `help:"Pairs of games per gate and opponent." default:"200" group:"New run"`
	GatePly      int           `help:"How many choices ahead both look in a gate." default:"2" group:"New run"`
}

func (s *settings) config() td.Config {
	c := td.Config{
		Seed: s.Seed, Hidden: s.Hidden, Batch: s.Batch,
		Games: s.Games, Rounds: s.Rounds, Iterations: s.Iterations, For: s.For,
		Lambda: s.Lambda, Mean: s.Mean, RateWarm: s.RateWarm, RateFrom: s.Rate, RateTo: s.RateEnd,
		Actor: s.Actor, Temperature: s.Temperature, Step: s.Step, ActorBatch: s.ActorBatch, ActorFrom: s.ActorRate, ActorTo: s.ActorRateEnd,
		Warm: s.Warm, Imitate: s.Imitate, Others: s.Others, Deep: s.Deep, DeepWidth: s.DeepWidth, Explore: s.Explore, Late: s.Late, Versus: s.Versus,
		Gates: s.Gates, GatePairs: s.GatePairs, GatePly: s.GatePly,
	}
	if s.For > 0 {
		c.Iterations = 0
	}
	return c
}
