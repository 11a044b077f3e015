package main

type viewCmd struct{}

func (*viewCmd) Run() error { return nil }

type statCmd struct{}

func (*statCmd) Run() error { return nil }
