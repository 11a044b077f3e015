// Blockyard is the four programs agents, train, datasets and rpc in one executable, for whoever installs one thing: the
// Python package has it. Every command is reached by its words alone, as in "blockyard arena blockbattle", or after the
// name of its program, as in "blockyard agents arena blockbattle".
package main

import (
	"os"

	agents "blockyard/agents/commands"
	datasets "blockyard/datasets/commands"
	"blockyard/datasets/program"
	rpc "blockyard/rpc/commands"
	train "blockyard/train/commands"
)

const about = "Block games of contests: serve them, train networks, play, host contests."

func main() {
	several := &program.Several{Name: "blockyard", About: about, Parts: parts(), Outside: os.Getenv("BLOCKYARD_COMMANDS")}
	os.Exit(several.Main())
}

func parts() []program.Part {
	return []program.Part{
		{Program: rpc.Program(), Start: rpc.Main},
		{Program: agents.Program(), Start: agents.Main},
		{Program: train.Program(), Start: train.Main},
		{Program: datasets.Program(), Start: datasets.Main},
	}
}
