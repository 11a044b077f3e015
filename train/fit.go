package main

type fit struct{}

func (c *fit) Run() error { return nil }

type export struct{}

func (c *export) Run() error { return nil }
