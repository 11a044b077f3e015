package commands

import (
	"fmt"

	"blockyard/datasets/program"
	"blockyard/train/selfplay"
)

// curves are the flags of "train curves". Its Run draws the scores of several runs in one picture.
type curves struct {
	Runs []string `arg:"" help:"Folders of runs of one game, as selfplay --out names them." placeholder:"DIR"`
	Out  string   `help:"Picture to write, an SVG." default:"curves.svg" placeholder:"FILE"`
}

func (c *curves) Run(con *program.Console) error {
	var all []selfplay.Learned
	for _, dir := range c.Runs {
		l, err := selfplay.ReadLearned(dir)
		if err != nil {
			return err
		}
		all = append(all, l)
	}
	if err := selfplay.DrawCurves(c.Out, all); err != nil {
		return err
	}
	_, err := fmt.Fprintln(con.Out, "the picture:", c.Out)
	return err
}
