package commands

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strconv"

	"blockyard/datasets/program"
	"blockyard/datasets/record"
	"blockyard/train/games"
	"blockyard/train/network"
	"blockyard/train/network/rows"
)

// A fit has the flags of "train fit". Its Run fits a network to the results of recorded games.
type fit struct {
	Files  []string `arg:"" name:"file" help:"Records of games." type:"existingfile"`
	Game   string   `help:"Game of the records. Default: that of the first one." placeholder:"GAME"`
	Out    string   `help:"Weights file to write." default:"fit.safetensors" placeholder:"FILE"`
	From   string   `help:"Net to start from instead of random weights." placeholder:"FILE"`
	Hidden []int    `help:"Sizes of the hidden layers of a new net." default:"32"`
	Epochs int      `help:"Passes over the rows." default:"8"`
	Batch  int      `help:"Rows per step of the optimiser." default:"256"`
	Rate   float64  `help:"Learning rate at the start; it falls to a twentieth." default:"0.001"`
	Held   float64  `help:"Share of the games held back for validation." default:"0.1"`
	Seed   uint64   `help:"Seed of everything random." default:"1"`
	MaxMB  int      `name:"max-mb" help:"Most MiB of rows: a small compressed file can hold many." default:"2048"`
}

func (c *fit) Run(ctx context.Context, con *program.Console) error {
	if c.MaxMB < 1 {
		return fmt.Errorf("--max-mb %d: want 1 or more", c.MaxMB)
	}
	if c.Epochs < 1 || c.Batch < 1 || !(c.Rate > 0) || !(c.Held >= 0 && c.Held < 1) {
		return fmt.Errorf("%d epochs, batches of %d, rate %v, held back %v: out of range", c.Epochs, c.Batch, c.Rate, c.Held)
	}
	if c.Game == "" {
		if err := each(ctx, c.Files[0], func(rec *record.Record) error {
			c.Game = rec.Game
			return errFirst
		}); !errors.Is(err, errFirst) {
			return cmp.Or(err, fmt.Errorf("%s holds no game", c.Files[0]))
		}
	}
	g, err := games.Open(c.Game)
	if err != nil {
		return err
	}
	if g.Solo != nil {
		return fmt.Errorf("%[1]s has one seat: train it with train selfplay %[1]s", g.Rules.Name)
	}
	seed := strconv.FormatUint(c.Seed, 10)
	made := program.Begin("train", seed)
	train, held, err := c.read(ctx, g)
	if err != nil {
		return err
	}
	fmt.Fprintf(con.Err, "%d rows to fit, %d held back\n", train.Len(), held.Len())
	t, err := c.trainer(g)
	if err != nil {
		return err
	}
	defer func() { _ = t.Close() }()
	if err := c.fit(ctx, con.Err, t, train, held); err != nil {
		return err
	}
	net, err := t.Net()
	if err != nil {
		return err
	}
	notes := map[string]string{
		"seed": seed, "rows": strconv.Itoa(train.Len()), "epochs": strconv.Itoa(c.Epochs),
		"output": "log odds of winning",
	}
	if err := g.Save(c.Out, net, notes); err != nil {
		return err
	}
	return made.WriteBeside(c.Out)
}

// read turns the records into rows. A random choice of whole games is held back.
func (c *fit) read(ctx context.Context, g *games.Game) (train, held *rows.Set, err error) {
	train, held = rows.New(g), rows.New(g)
	choose := rand.New(rand.NewPCG(c.Seed, 1))
	for _, name := range c.Files {
		if err := each(ctx, name, func(rec *record.Record) error {
			to, other := train, held
			if choose.Float64() < c.Held {
				to, other = held, train
			}
			to.MaxBytes = max(1, c.MaxMB<<20-other.Size())
			err := to.Add(rec)
			if errors.Is(err, rows.ErrTooLarge) {
				err = fmt.Errorf("%w: %d rows of %d features take %d MiB, and there are more: raise --max-mb %d if there is "+
					"memory for up to three times that", err, to.Len()+other.Len(), len(g.Features),
					(to.Size()+other.Size())>>20, c.MaxMB)
			}
			return err
		}); err != nil {
			return nil, nil, err
		}
	}
	if train.Len() == 0 {
		return nil, nil, errors.New("the records hold no game that was played to its end")
	}
	return train, held, nil
}

// errFirst ends a loop over records after the first one.
var errFirst = errors.New("the first record is enough")

// each calls f for every record of a file. It fails if ctx ends.
func each(ctx context.Context, name string, f func(*record.Record) error) error {
	r, err := record.Open(name)
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }() // it was only read from
	r.Use(ctx)
	for rec, err := range r.All() {
		if err != nil {
			return err
		}
		if err := f(rec); err != nil {
			return fmt.Errorf("%s:%d: %w", name, r.Line(), err)
		}
	}
	return nil
}

// trainer starts from random weights or from a net.
func (c *fit) trainer(g *games.Game) (*network.Trainer, error) {
	sizes := slices.Concat([]int{len(g.Features)}, c.Hidden, []int{1})
	config := network.Config{Sizes: sizes, Batch: c.Batch, Seed: c.Seed}
	if c.From != "" {
		var err error
		if config.From, err = g.Load(c.From); err != nil {
			return nil, err
		}
	}
	return network.New(config)
}

// fit passes over the rows and prints each pass's loss on out, until ctx ends.
func (c *fit) fit(ctx context.Context, out io.Writer, t *network.Trainer, train, held *rows.Set) error {
	shuffle := rand.New(rand.NewPCG(c.Seed, 2))
	for epoch := range c.Epochs {
		if ctx.Err() != nil {
			return nil
		}
		rate := c.Rate * (1 - 0.95*float64(epoch)/float64(c.Epochs))
		loss, err := train.Pass(t.Fit, shuffle, c.Batch, rate)
		if err != nil {
			return err
		}
		net, err := t.Net()
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "pass %d of %d: loss %.4f, held back %.4f\n", epoch+1, c.Epochs, loss, held.Loss(net))
	}
	return nil
}
