package main

import (
	"fmt"
)

type statCmd struct {
	Files        []string `arg:"" name:"file" help:"Files of records, plain or gzip; - is standard input."`
	Each         bool     `help:"A summary for each file, not one of all."`
	Quick        bool     `help:"Do not replay the games; leaves out how many choices there were."`
	AllowPartial bool     `help:"Let a record cut short at the end of a file pass."`
}

func (c *statCmd) Run(std *streams) error {
	all := newSummary(c.Quick)
	for _, file := range c.Files {
		if c.Each {
			all = newSummary(c.Quick)
		}
		if err := all.file(file, c.AllowPartial); err != nil {
			return err
		}
		if c.Each {
			fmt.Fprintf(std.out, "%s\n", file)
			all.write(std.out)
		}
	}
	if !c.Each {
		all.write(std.out)
	}
	return nil
}
