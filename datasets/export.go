package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"blockyard/datasets/export"
	"blockyard/datasets/record"
	"blockyard/env"
	"blockyard/env/games"

	"github.com/schollz/progressbar/v3"
)

type exportCmd struct {
	Files []string `arg:"" name:"file" help:"Files of records, plain or gzip; - is standard input."`

	Parquet string `xor:"form" required:"" placeholder:"DIR" help:"Write Parquet shards to this new folder."`
	Minari  string `xor:"form" required:"" placeholder:"ROOT" help:"Write a dataset of Minari's below this folder, such as ~/.minari/datasets."`

	Game string `help:"Export games of this name and pass over others; by default all are to be like the first." placeholder:"NAME"`
	ID   string `help:"Name of the Minari dataset; blockyard/GAME/records-v0 unless told." placeholder:"NAME"`
	Rows int    `help:"Rows of a shard, about; whole games. Default ${default}." default:"1000000"`

	AllowPartial bool `help:"Let a record cut short at the end of a file pass, as in one still being written."`
	Quiet        bool `short:"q" help:"No progress bar on standard error."`
}

func (c *exportCmd) Help() string {
	return `Every game is played again and checked on the way; a row is one choice of one seat, with what
the seat saw and what came of it. Parquet: zstd, data/shard-*.parquet with a card, which pandas, DuckDB
and the datasets library load by name (datasets.load_dataset("parquet", data_files="DIR/data/*.parquet")).
Minari: a folder for each seat's game, good for thousands of them, not for millions; read by
minari.load_dataset(NAME) with MINARI_DATASETS_PATH=ROOT.

What is written takes its name when it is whole. After an error or Ctrl-C nothing is left.`
}

// target is a form of export.
type target interface {
	export.Sink
	Close([]export.Source) error
	Discard()
}

func (c *exportCmd) Run(std *streams) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return c.run(ctx, std)
}

func (c *exportCmd) run(ctx context.Context, std *streams) error {
	if c.Rows < 1 {
		return fmt.Errorf("--rows %d: want at least 1", c.Rows)
	}
	if c.ID != "" && c.Minari == "" {
		return errors.New("--id goes with --minari")
	}
	g, err := c.game()
	if err != nil {
		return err
	}
	final := c.Parquet
	if c.Minari != "" {
		if c.ID == "" {
			c.ID = "blockyard/" + strings.ReplaceAll(g.Name, ":", "-") + "/records-v0"
		}
		if err := export.CheckMinariID(c.ID); err != nil {
			return err
		}
		final = filepath.Join(c.Minari, filepath.FromSlash(c.ID))
	}
	return whole(final, func(folder string) error { return c.write(ctx, std, g, folder, final) })
}

// game is the game to export: the one named, or that of the first record.
func (c *exportCmd) game() (*env.Game, error) {
	if c.Game != "" {
		return games.Lookup(c.Game)
	}
	if c.Files[0] == "-" {
		return nil, errors.New("name the game by --game where the first file is standard input")
	}
	r, err := record.Open(c.Files[0])
	if err != nil {
		return nil, err
	}
	defer r.Close()
	var rec record.Record
	if err := r.ReadPart(&rec); errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: no games", c.Files[0])
	} else if err != nil {
		return nil, err
	}
	return games.Lookup(rec.Game)
}

// whole lets write fill a new folder, which takes the name final when it is done.
func whole(final string, write func(folder string) error) error {
	if _, err := os.Lstat(final); err == nil {
		return fmt.Errorf("%s is there already", final)
	}
	above := filepath.Dir(final)
	made, err := folders(above)
	if err != nil {
		return err
	}
	defer func() {
		for _, m := range made { // those left empty, the lowest first
			_ = os.Remove(m)
		}
	}()
	folder, err := os.MkdirTemp(above, "."+filepath.Base(final)+".*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	if err := os.Chmod(folder, 0o755); err != nil {
		return err
	}
	if err := write(folder); err != nil {
		return err
	}
	return os.Rename(folder, final)
}

// folders makes a folder and those above it, and returns the new ones, the lowest first.
func folders(path string) (made []string, err error) {
	for at := path; ; at = filepath.Dir(at) {
		if _, err := os.Stat(at); !errors.Is(err, os.ErrNotExist) {
			break
		}
		made = append(made, at)
	}
	return made, os.MkdirAll(path, 0o755)
}

func (c *exportCmd) write(ctx context.Context, std *streams, g *env.Game, folder, final string) error {
	var to target
	var err error
	if c.Minari != "" {
		to, err = export.NewMinari(folder, c.ID, g)
	} else {
		to, err = export.NewShards(folder, g, c.Rows)
	}
	if err != nil {
		return err
	}
	defer to.Discard()
	w := export.NewWalker(g, to)
	w.Others = c.Game != ""
	bar := c.bar(std)
	defer func() { _ = bar.Clear() }()
	var sources []export.Source
	for _, file := range c.Files {
		src, err := c.file(ctx, std, w, bar, file)
		if err != nil {
			return err
		}
		sources = append(sources, src)
	}
	if err := to.Close(sources); err != nil {
		return err
	}
	_ = bar.Clear()
	fmt.Fprintf(std.out, "%s: %d games, %d choices%s\n", final, w.Games, w.Rows, leftOut(to))
	return nil
}

func leftOut(to target) string {
	m, ok := to.(*export.Minari)
	if !ok || m.Missing+m.Long == 0 {
		return ""
	}
	return fmt.Sprintf(", %d episodes; left out: %d with a choice not made, %d too long", m.Episodes, m.Missing, m.Long)
}

// file exports one file.
func (c *exportCmd) file(ctx context.Context, std *streams, w *export.Walker, bar *progressbar.ProgressBar, file string) (export.Source, error) {
	in, name := std.in, "standard input"
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return export.Source{}, err
		}
		defer f.Close()
		in, name = f, file
	}
	sum := sha256.New()
	in = io.TeeReader(in, io.MultiWriter(sum, bar))
	r, err := record.NewReader(name, in)
	if err != nil {
		return export.Source{}, err
	}
	r.AllowPartial = c.AllowPartial
	before := w.Games
	for {
		err := w.Next(ctx, r)
		if errors.Is(err, io.EOF) {
			break
		}
		if errors.Is(err, context.Canceled) {
			return export.Source{}, errors.New("interrupted, nothing was written")
		}
		if err != nil && !strings.HasPrefix(err.Error(), name+":") {
			err = fmt.Errorf("%s:%d: %w", name, r.Line(), err)
		}
		if err != nil {
			return export.Source{}, err
		}
		bar.Describe(fmt.Sprintf("%d games, %d choices", w.Games, w.Rows))
	}
	if _, err := io.Copy(io.Discard, in); err != nil { // what a compressed file may have after its end
		return export.Source{}, err
	}
	return export.Source{File: filepath.Base(name), Games: w.Games - before, SHA256: fmt.Sprintf("%x", sum.Sum(nil))}, nil
}

// bar counts the bytes read, of those that there are if that is known.
func (c *exportCmd) bar(std *streams) *progressbar.ProgressBar {
	var total int64
	for _, file := range c.Files {
		info, err := os.Stat(file)
		if err != nil || !info.Mode().IsRegular() {
			total = -1
			break
		}
		total += info.Size()
	}
	out := std.err
	if c.Quiet || !terminal(out) {
		out = io.Discard
	}
	return progressbar.NewOptions64(total, progressbar.OptionSetWriter(out), progressbar.OptionShowBytes(true), progressbar.OptionFullWidth(),
		progressbar.OptionThrottle(200*time.Millisecond), progressbar.OptionClearOnFinish(), progressbar.OptionSetPredictTime(true))
}
