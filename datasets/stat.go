package main

import "fmt"

type statCmd struct {
	input
	Each  bool `help:"Print a summary for each file instead of one for all files."`
	Quick bool `help:"Do not replay the games. Leaves out steps and legal actions."`
}

func (c *statCmd) Run(std *streams) error {
	all := newSummary(c.Quick)
	for _, file := range c.Files {
		if err := all.file(&c.input, file); err != nil {
			return err
		}
		if c.Each {
			fmt.Fprintln(std.out, file)
			all.write(std.out)
			all = newSummary(c.Quick)
		}
	}
	if !c.Each {
		all.write(std.out)
	}
	return nil
}
