package main

import "github.com/alecthomas/kong"

// helps are the help texts of settings, by flag.
var helps = kong.Vars{
	"from":       "Net to start from instead of random weights; --warm 0 is usual then.",
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
	"gates": "How often the net is evaluated and saved. Default: 6 with --backup, else 10, " +
		"and with --for one per minute at most.",

	"backup": "Share of the budget, the first, for fitted value iteration: a net that starts as the baseline evaluator " +
		"learns what a search with it finds, and from gate to gate what a search with the net so far finds. " +
		"Default: 1 if the game offers it, else 0.",
	"actor": "Share of the budget, the last after --backup and --warm, for an actor-critic: a second net, the actor, " +
		"learns by policy gradient and is what is gated and saved. 0: values alone. Default: what --backup leaves.",
	"versus":     "Share of games with the baseline evaluator in one seat; not in the warm start. Default: 0.",
	"gate_pairs": "Pairs of games per gate and opponent. Default: 200.",
	"gate_ply":   "Plies that both sides search in a gate. Default: 2.",

	"samples": "Positions per decision that are searched further and learned from. Default: 4.",
	"look": "Plies that each of them is searched further. 1: one more, over all draws. More, in turn-based games: " +
		"both seats play on as the net prefers. More, in other games: each further choice is made two plies deep, " +
		"and the result is averaged over futures that cover every draw. Default: 1.",
	"rate_backup": "Learning rate after each gate. Default: 0.001.",

	"warm": "Share of the budget in which the baseline evaluator plays. " +
		"Default: 0.15 if the budget has no --backup and the game several seats, else 0.",
	"rate_warm": "Learning rate of the warm start. Default: 0.001.",
	"imitate":   "Weight of the baseline evaluator's opinion in the targets of the warm start. Default: 0.5.",
	"others":    "Choices not made that are learned as well in the warm start. Default: 2.",
	"lambda":    "λ of the returns, 0 to 1. Default: 0.9, for one seat 0.5.",
	"rate":      "Learning rate after the warm start, without an actor. Default: 0.0002, for one seat 0.001.",
	"rate_end":  "Learning rate at the end. Default: 0.00001, for one seat 0.00002.",
	"deep":      "Share of the budget, the last, in which games are played two plies deep. Default: 0.",
	"deep_width": "First choices searched two plies deep with --backup and --deep; in Dropblox the width of the search. " +
		"Default: 8 with --backup, else 4, in Dropblox 6.",

	"temperature":    "Of the softmax that the actor draws its choices from; the lower, the greedier. Default: 0.05.",
	"step":           "How far an advantage moves the actor. Default: 1.",
	"actor_batch":    "Rows per step of the actor's optimiser, two per pair of choices. Default: 1024.",
	"actor_rate":     "Learning rate of actor and critic when the actor begins. Default: 0.0005.",
	"actor_rate_end": "Their learning rate at the end. Default: 0.0001.",

	"keep":       "Rollouts that every fit learns from, the last ones. Default: 1.",
	"longest":    "Choices after which a game is left for a new one. Default: 2000.",
	"gate_games": "Games of a gate. Default: 64.",
	"gate_steps": "Choices after which such a game is stopped. Default: 10000.",
}
