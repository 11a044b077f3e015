package main

import (
	"context"
	"fmt"

	"blockyard/agents/submit"
)

type export struct {
	submit.Export
	Out string `help:"Source file to write." default:"bot.go" placeholder:"FILE"`
}

// Run implements the command.
func (c *export) Run(ctx context.Context) error {
	bot, err := c.Bot(false)
	if err != nil {
		return err
	}
	report, err := c.Write(ctx, bot, c.Out)
	if err == nil {
		fmt.Print(report)
	}
	return err
}
