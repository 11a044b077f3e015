package commands

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"blockyard/agents/bots"
	"blockyard/datasets/program/web"
	"blockyard/datasets/record"
	"blockyard/env"
	"blockyard/env/games"
	"blockyard/env/vec"
	"blockyard/rpc/openenv"
	"blockyard/rpc/session/limits"
)

// openEnvFlags are the flags of serve for clients of OpenEnv. Those with a name in JSON are in the states of episodes.
type openEnvFlags struct {
	OpenEnv        string        `name:"openenv" needs:"" placeholder:"HOST:PORT" help:"${openenv_help}"`
	Game           string        `json:"game" placeholder:"GAME" help:"Game of --openenv, such as BlockBattle-v0."`
	Opponents      string        `json:"opponents" placeholder:"SPEC" default:"hand" help:"${opponents_help}"`
	Seats          int           `json:"seats" placeholder:"N" help:"Seats of a game of --openenv. Default: the fewest."`
	Seat           int           `placeholder:"N" help:"${seat_help}"`
	Reward         vec.Reward    `json:"reward_kind" placeholder:"KIND" help:"${reward_help}"`
	IllegalPenalty float64       `json:"illegal_penalty" placeholder:"NUMBER" default:"0.1" help:"${illegal_penalty_help}"`
	StepLimit      int           `json:"step_limit" placeholder:"N" help:"${step_limit_help}"`
	StepReward     float64       `json:"step_reward" placeholder:"NUMBER" default:"0" help:"${step_reward_help}"`
	LegalMoves     string        `enum:"show,hide" default:"show" help:"${legal_moves_help}"`
	Idle           time.Duration `placeholder:"DURATION" default:"${openenv_idle}" help:"${idle_help}"`
	OpenEnvTools   string        `name:"openenv-tools" placeholder:"NAMES" help:"${openenv_tools_help}"`
	Record         string        `placeholder:"FILE" help:"${record_help}"`
}

// openEnvAddress returns the address as listen.Listen wants it.
func (f *openEnvFlags) openEnvAddress() string {
	switch network, _, _ := strings.Cut(f.OpenEnv, ":"); network {
	case "tcp", "tls", "unix":
		return f.OpenEnv
	}
	return "tcp:" + f.OpenEnv
}

// openEnvURL returns an address as clients of OpenEnv write it.
func openEnvURL(address string) string {
	for network, scheme := range map[string]string{"tcp:": "http://", "tls:": "https://"} {
		if rest, ok := strings.CutPrefix(address, network); ok {
			return scheme + rest
		}
	}
	return address
}

// openEnv returns the server of --openenv, nil without it. end closes the file of records and removes what its
// opponents were compiled to.
func (f *openEnvFlags) openEnv(ctx context.Context, ledger *limits.Ledger, served []*env.Game, names web.Names,
	log *slog.Logger) (_ *openenv.Server, end func(), err error) {
	end = func() {}
	if f.OpenEnv == "" {
		return nil, end, nil
	}
	g := games.Find(served, f.Game)
	if g == nil {
		if g, err = games.Lookup(f.Game); err != nil {
			return nil, end, err
		}
	}
	opponents := f.Opponents
	var opponent bots.Factory
	if g.MaxSeats > 1 {
		a, err := bots.Parse(g, bots.Own(f.Opponents))
		if err == nil {
			end, err = bots.PrepareAll(ctx, a)
		}
		if err == nil {
			opponents = a.Recorded()
			opponent, err = a.Factory()
		}
		if err != nil {
			return nil, end, fmt.Errorf("--opponents: %w", err)
		}
	} else if f.Opponents != "hand" {
		return nil, end, fmt.Errorf("--opponents: %s has one seat", g.Name)
	}
	var records *record.Writer
	if f.Record != "" {
		if records, err = record.Append(f.Record); err != nil {
			return nil, end, fmt.Errorf("--record: %w", err)
		}
		forget := end
		end = func() {
			forget()
			if err := records.Close(); err != nil {
				log.Error("--record", "err", err)
			}
		}
	}
	var tools []string // all
	if f.OpenEnvTools != "" {
		tools = strings.Split(f.OpenEnvTools, ",")
	}
	values, unit := valuesOf(g)
	text, err := openenv.New(openenv.Config{
		Game: g, Seats: f.Seats, Seat: f.Seat, Opponent: vec.AgentFactory(opponent), Opponents: opponents,
		Reward: f.Reward, Penalty: f.IllegalPenalty, StepLimit: f.StepLimit, Rules: games.Rules(g), Version: version,
		Values: values, Unit: unit, Records: records, Ledger: ledger, Names: names, Idle: f.Idle, Log: log,
		Tools: tools, StepReward: f.StepReward, HideLegal: f.LegalMoves == "hide",
	})
	return text, end, err
}

// valuesOf returns the values that learned gives to moves, nil if it gives none. They are loaded when asked for.
func valuesOf(g *env.Game) (openenv.Values, string) {
	a, err := bots.Parse(g, bots.Foreign("learned", nil))
	if err != nil {
		return nil, "" // no network is shipped for it
	}
	var mu sync.Mutex // a Ranker values one position at a time
	load := sync.OnceValues(a.Ranker)
	return func(ctx context.Context, s env.State, seat int) (map[env.Action]float32, error) {
		ranker, err := load()
		if err != nil {
			return nil, err
		}
		mu.Lock()
		defer mu.Unlock()
		ranked, err := ranker.Rank(ctx, s, seat, s.Legal(seat, nil)[0])
		values := map[env.Action]float32{}
		for _, c := range ranked {
			values[c.Action] = c.Value
		}
		return values, err
	}, "those of learned: higher is better; compare values of one position only"
}
