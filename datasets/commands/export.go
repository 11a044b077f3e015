package commands

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"blockyard/datasets/export"
	"blockyard/datasets/program"
	"blockyard/datasets/program/disk"
	"blockyard/datasets/record"
	"blockyard/env"
	"blockyard/env/games"
)

// An exportCmd has the flags of "datasets export". Its Run writes records as one of three forms, for other tools to
// read.
type exportCmd struct {
	input
	Parquet string `xor:"form" required:"" placeholder:"DIR" help:"${export_parquet}"`
	Minari  string `xor:"form" required:"" placeholder:"ROOT" help:"${export_minari}"`
	SFT     string `name:"sft" xor:"form" required:"" placeholder:"DIR" help:"${export_sft}"`

	Game string `help:"${export_game}" placeholder:"NAME"`
	ID   string `needs:"minari" help:"Name of the Minari dataset. Default: blockyard/GAME/records-v0." placeholder:"NAME"`
	Rows int    `needs:"parquet" help:"${export_rows}" default:"1000000"`

	Quiet bool `short:"q" help:"Print no progress bar."`
}

var errInterrupted = errors.New("interrupted: nothing was written")

func (c *exportCmd) Run(ctx context.Context, std *program.Console) error {
	if c.Rows < 1 {
		return fmt.Errorf("--rows %d: want at least 1", c.Rows)
	}
	err := c.export(ctx, std)
	if errors.Is(err, context.Canceled) {
		return errInterrupted
	}
	return err
}

func (c *exportCmd) export(ctx context.Context, std *program.Console) error {
	g, err := c.game(ctx)
	if err != nil {
		return err
	}
	final := cmp.Or(c.Parquet, c.SFT)
	if c.Minari != "" {
		c.ID = cmp.Or(c.ID, "blockyard/"+strings.NewReplacer(":", "-", "=", "-").Replace(g.Name)+"/records-v0")
		if err := export.CheckMinariID(c.ID); err != nil {
			return err
		}
		final = filepath.Join(c.Minari, filepath.FromSlash(c.ID))
	}
	return whole(final, func(folder string) error { return c.write(ctx, std, g, folder, final) })
}

// game returns the game to export: that of --game or of the first record.
func (c *exportCmd) game(ctx context.Context) (*env.Game, error) {
	if c.Game != "" {
		return games.Open(c.Game)
	}
	if c.Files[0] == "-" {
		return nil, errors.New("the first file is standard input: name the game with --game")
	}
	r, err := record.Open(c.Files[0])
	if err != nil {
		return nil, err
	}
	defer r.Close()
	r.Limit(c.MaxBytes, raise)
	r.Use(ctx)
	var rec record.Record
	if err := r.ReadPart(&rec); errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: no games, want at least one", c.Files[0])
	} else if err != nil {
		return nil, err
	}
	return games.Recorded(rec.Game, rec.Table)
}

// whole lets write fill a temporary folder, and renames it to final when that has succeeded. A lock lets one process at
// a time write to final, so that the temporary folder has one name.
func whole(final string, write func(folder string) error) error {
	if _, err := os.Lstat(final); err == nil {
		return fmt.Errorf("%s exists already: remove it or choose another folder", final)
	}
	above := filepath.Dir(final)
	made, err := folders(above)
	if err != nil {
		return err
	}
	defer func() {
		for _, m := range made { // those that are empty, the lowest first
			_ = os.Remove(m)
		}
	}()
	release, err := disk.Acquire(filepath.Join(above, "."+filepath.Base(final)+".lock"))
	if errors.Is(err, disk.ErrHeld) {
		return fmt.Errorf("another export writes to %s now: wait for it or choose another folder (%w)", final, err)
	}
	if err != nil {
		return err
	}
	defer func() { _ = release() }()
	folder := filepath.Join(above, "."+filepath.Base(final)+".part")
	if err := os.RemoveAll(folder); err != nil { // a killed export may have left it
		return err
	}
	if err := os.Mkdir(folder, 0o755); err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	if err := write(folder); err != nil {
		return err
	}
	return os.Rename(folder, final)
}

// folders creates a folder and its parents, and returns the new ones, the lowest first.
func folders(path string) (made []string, err error) {
	for at := path; ; at = filepath.Dir(at) {
		if _, err := os.Stat(at); !errors.Is(err, os.ErrNotExist) {
			break
		}
		made = append(made, at)
	}
	return made, os.MkdirAll(path, 0o755)
}

func (c *exportCmd) write(ctx context.Context, std *program.Console, g *env.Game, folder, final string) error {
	made := program.Begin("datasets", "")
	var to export.Sink
	var err error
	switch {
	case c.Minari != "":
		to, err = export.NewMinari(folder, c.ID, g)
	case c.SFT != "":
		to, err = export.NewSFT(folder, g)
	default:
		to, err = export.NewShards(folder, g, c.Rows)
	}
	if err != nil {
		return err
	}
	defer to.Discard()
	w := export.NewWalker(g, to)
	w.Others, w.Texts = c.Game != "", c.SFT != ""
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
	if w.Games == 0 {
		return fmt.Errorf("%s: no games of %s, want at least one", strings.Join(c.Files, ", "), g.Name)
	}
	if err := errors.Join(to.Close(sources), made.Close(folder)); err != nil {
		return err
	}
	_ = bar.Clear()
	leftOut := ""
	if m, ok := to.(*export.Minari); ok && m.Missing+m.Long > 0 {
		leftOut = fmt.Sprintf(", %d episodes; left out: %d with a decision without an action, %d too long",
			m.Episodes, m.Missing, m.Long)
	}
	fmt.Fprintf(std.Out, "%s: %d games, %d choices%s\n", final, w.Games, w.Rows, leftOut)
	return nil
}

func (c *exportCmd) file(ctx context.Context, std *program.Console, w *export.Walker, bar program.Bar,
	file string) (src export.Source, err error) {
	in, name := std.In, "standard input"
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return src, err
		}
		defer f.Close()
		in, name = f, file
	}
	sum, until := sha256.New(), program.Until(ctx, in, context.Canceled)
	defer until.Close()
	in = io.TeeReader(until, io.MultiWriter(sum, bar))
	r, err := record.NewReader(name, in)
	if err != nil {
		return src, err
	}
	r.AllowPartial = c.AllowPartial
	r.Limit(c.MaxBytes, raise)
	r.Use(ctx)
	before := w.Games
	for err == nil {
		err = w.Next(ctx, r)
		bar.Describe(fmt.Sprintf("%d games, %d choices", w.Games, w.Rows))
	}
	switch {
	case errors.Is(err, io.EOF):
	case strings.HasPrefix(err.Error(), name+":"):
		return src, err
	default:
		return src, fmt.Errorf("%s:%d: %w", name, r.Line(), err)
	}
	if _, err := io.Copy(io.Discard, in); err != nil { // bytes after the end of compressed data
		return src, err
	}
	text := fmt.Sprintf("%x", sum.Sum(nil))
	return export.Source{File: filepath.Base(name), Games: w.Games - before, SHA256: text}, nil
}

// bar is the progress in bytes, with the total if that is known.
func (c *exportCmd) bar(std *program.Console) program.Bar {
	var total int64
	for _, file := range c.Files {
		info, err := os.Stat(file)
		if err != nil || !info.Mode().IsRegular() {
			total = -1
			break
		}
		total += info.Size()
	}
	return program.NewBar(std.Err, c.Quiet, int(total), "bytes")
}
