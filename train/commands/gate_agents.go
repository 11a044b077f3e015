package commands

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"blockyard/agents/bots"
	"blockyard/agents/mlp"
	"blockyard/datasets/program/disk"
	"blockyard/train/games"
	"blockyard/train/selfplay"
	"blockyard/train/selfplay/phases"
)

// trust lets the gates of a run use what --gate-against of this command line names. Whatever else the run's folder
// names is foreign: agents of this program, with weights that lie in the folder.
func (c *selfplayCmd) trust(settings selfplay.Algorithm) {
	config, ok := settings.(*phases.Config)
	if !ok {
		return
	}
	folder := func(name string) ([]byte, error) { return mlp.ReadFile(weightsFile(c.Out, name)) }
	config.GateText = func(name string) bots.Text {
		if slices.Contains(c.Phases.GateAgainst, name) {
			return bots.Own(name).With(folder)
		}
		return bots.Foreign(name, folder)
	}
}

// keepWeights copies the weights that --gate-against names into the folder of a new run, whose settings then name them
// by content.
func (c *selfplayCmd) keepWeights(g *games.Game, settings selfplay.Algorithm) error {
	config, ok := settings.(*phases.Config)
	if !ok {
		return nil
	}
	config.GateAgainst = slices.Clone(config.GateAgainst) // the flag keeps what the user wrote
	for k, text := range config.GateAgainst {
		a, err := bots.Parse(g.Rules, bots.Own(text))
		if err != nil {
			return fmt.Errorf("--gate-against: %w", err)
		}
		spec, name, data, err := a.Portable()
		switch {
		case errors.Is(err, bots.ErrUntrusted): // a program, which the user names again to resume
		case err != nil:
			return err
		case name != "":
			err := cmp.Or(os.MkdirAll(c.Out, 0o755), disk.WriteText(weightsFile(c.Out, name), 0o644, string(data)))
			if err != nil {
				return err
			}
			config.GateAgainst[k] = strings.TrimSuffix(text, a.Spec) + spec
		}
	}
	return nil
}

// weightsFile is where the folder of a run has weights that are named by content.
func weightsFile(dir, name string) string {
	return filepath.Join(dir, "sha256-"+strings.TrimPrefix(name, bots.ContentPrefix)+".weights")
}
