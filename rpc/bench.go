package main

import "context"

type benchCmd struct{}

func (c *benchCmd) Run(ctx context.Context) error { return nil }
