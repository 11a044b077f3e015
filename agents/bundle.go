package main

import (
	"context"
	"errors"
	"fmt"

	"blockyard/agents/submit"
)

type bundleCmd struct {
	submit.Export
	Out  string `required:"" placeholder:"FILE" help:"Source file to write, such as bin/bot.go."`
	Hand bool   `help:"Build in the baseline, a hand-tuned evaluator, instead of a network."`
}

// Run writes the bot.
func (c *bundleCmd) Run(ctx context.Context, con *console) error {
	if c.Hand && c.Weights != "" {
		return usage{errors.New("--hand and --weights do not go together: leave one out")}
	}
	bot, err := c.Bot(c.Hand)
	if err != nil {
		return usage{err}
	}
	report, err := c.Write(ctx, bot, c.Out)
	if err == nil {
		_, err = fmt.Fprint(con.out, report)
	}
	return err
}
