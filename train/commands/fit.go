package commands

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
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
	Hidden []int    `needs:"!from" help:"Sizes of the hidden layers of a new net." default:"32"`
	Epochs int      `help:"Passes over the rows." default:"8"`
	Batch  int      `help:"Rows per step of the optimiser." default:"256"`
	Rate   float64  `help:"Learning rate at the start; it falls to a twentieth." default:"0.001"`
	Held   float64  `help:"Share of the games held back for validation." default:"0.1"`
	Seed   uint64   `help:"Seed of everything random." default:"1"`
	MaxMB  int      `name:"max-mb" help:"Most MiB of memory for rows: a small file can hold many." default:"2048"`
}

func (c *fit) Run(ctx context.Context, con *program.Console) error {
	if c.MaxMB < 1 {
		return fmt.Errorf("--max-mb %d: want 1 or more", c.MaxMB)
	}
	if c.Epochs < 1 || c.Batch < 1 || !(c.Rate > 0) || !(c.Held >= 0 && c.Held < 1) {
		return fmt.Errorf("%d epochs, batches of %d, rate %v, held back %v: out of range", c.Epochs, c.Batch, c.Rate, c.Held)
	}
	if c.Game == "" {
		if err := each(ctx, c.Files[0], func(r *record.Reader) error {
			var first record.Record
			err := r.ReadPart(&first)
			c.Game = first.Game
			return cmp.Or(err, io.EOF)
		}); err != nil {
			return err
		}
		if c.Game == "" {
			return fmt.Errorf("%s holds no game", c.Files[0])
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
	bar := con.Progress(false, c.Epochs, "passes")
	defer bar.Close()
	bar.Describe("reading")
	train, held, err := c.read(ctx, g)
	if err != nil {
		return err
	}
	bar.Line("%d rows to fit, %d held back", train.Len(), held.Len())
	bar.Describe("fitting")
	t, err := c.trainer(g)
	if err != nil {
		return err
	}
	defer func() { _ = t.Close() }()
	if err := c.fit(ctx, bar, t, train, held); err != nil {
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
	bar.Line("the net: %s", c.Out)
	return made.WriteBeside(c.Out)
}

// read turns the records into rows. A random choice of whole games is held back.
func (c *fit) read(ctx context.Context, g *games.Game) (train, held *rows.Set, err error) {
	most, err := c.count(ctx, g)
	if err != nil {
		return nil, nil, err
	}
	train, held = rows.New(g, most[0]), rows.New(g, most[1])
	choose := c.choose()
	for _, name := range c.Files {
		if err := each(ctx, name, func(r *record.Reader) error {
			rec, err := r.Read()
			if err != nil {
				return err
			}
			if err = [2]*rows.Set{train, held}[choose()].Add(rec); err != nil {
				err = r.Errorf("%w", err)
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

// count returns how many rows read makes at most, one per choice: of games to fit to, and of those held back. It keeps
// one line at a time, so that too many rows are refused before there are any. The present game, which read keeps whole,
// counts even if it has none.
func (c *fit) count(ctx context.Context, g *games.Game) (most [2]int, err error) {
	choose, limit := c.choose(), c.MaxMB<<20/rows.Bytes(g)
	for _, name := range c.Files {
		choices, draws := 0, 0
		if err := each(ctx, name, func(r *record.Reader) error {
			var line record.Record
			if err := r.ReadPart(&line); err != nil {
				return err
			}
			choices, draws = choices+len(line.Choices), draws+len(line.Draws)
			if n := most[0] + most[1] + max(choices, draws); n > limit {
				return r.Errorf("too many rows: the games up to here have %d choices, each a row of %d bytes; want at most %d, "+
					"as many as fit into --max-mb %d: raise it if there is memory", n, rows.Bytes(g), limit, c.MaxMB)
			}
			if !line.More {
				if k := choose(); !line.Stopped {
					most[k] += choices
				}
				choices, draws = 0, 0
			}
			return nil
		}); err != nil {
			return most, err
		}
	}
	return most, nil
}

// choose returns what says of each game whether it is fitted to, 0, or held back, 1.
func (c *fit) choose() func() int {
	r := rand.New(rand.NewPCG(c.Seed, 1))
	return func() int {
		if r.Float64() < c.Held {
			return 1
		}
		return 0
	}
}

// each calls f until the file, which is read more than once, or ctx ends, or f fails.
func each(ctx context.Context, name string, f func(*record.Reader) error) error {
	if st, err := os.Stat(name); err == nil && !st.Mode().IsRegular() {
		return fmt.Errorf("%s: want a regular file", name)
	}
	r, err := record.Open(name)
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }() // it was only read from
	r.Use(ctx)
	for err == nil {
		err = f(r)
	}
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
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

// fit passes over the rows and prints each pass's loss above the bar, until ctx ends.
func (c *fit) fit(ctx context.Context, bar program.Bar, t *network.Trainer, train, held *rows.Set) error {
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
		bar.Line("pass %d of %d: loss %.4f, held back %.4f", epoch+1, c.Epochs, loss, held.Loss(net))
		bar.Set(epoch + 1)
	}
	return nil
}
