package export

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"blockyard/env"

	"github.com/parquet-go/parquet-go"
)

const minariVersion = "0.5.3" // the version of Minari whose format is written

// minariSteps is the longest episode that Minari reads, in a batch of pyarrow less the last observation.
const minariSteps = 131071

// Minari writes a folder per episode, one seat's game, for Minari's Parquet storage: a row per step and one for the
// last observation, Dict(planes, globals). Actions are ids, rewards changes of the result; infos have action_mask and
// score. Left out are episodes with a decision without an action, which has no id, and of more than 131,071 steps.
type Minari struct {
	*columns
	folder, id string // folder of the data, name of the dataset
	game       *env.Game
	seats      [env.MaxSeats]*minariEpisode // nil before the first decision of a seat

	Episodes, Steps int64
	Missing, Long   int64 // episodes left out: without an action, too long
	bytes           int64

	planes  []uint8
	globals []float32
	mask    []uint8
	legal   []env.Action
}

// A minariEpisode is the part of a game that one seat plays, as an episode of the dataset.
type minariEpisode struct {
	folder string
	table  *table
	steps  int64
	bad    bool           // left out
	about  map[string]any // metadata
}

var minariID = regexp.MustCompile(`^([-_\w]+/)*[-_\w]+-v\d+$`)

// CheckMinariID returns an error for a name that Minari cannot read.
func CheckMinariID(id string) error {
	if !minariID.MatchString(id) {
		return fmt.Errorf("%q is not the name of a Minari dataset, want NAMESPACE/NAME-v0", id)
	}
	return nil
}

// NewMinari starts a dataset of g in an empty folder, with a name id that CheckMinariID accepts.
func NewMinari(folder, id string, g *env.Game) (*Minari, error) {
	m := &Minari{folder: filepath.Join(folder, "data"), id: id, game: g,
		planes: make([]uint8, g.Planes.Len()), globals: make([]float32, g.Globals()), mask: make([]uint8, g.MaskLen())}
	type value = parquet.Value
	flag := parquet.Leaf(parquet.BooleanType)
	m.columns = newColumns("step", []column{
		{path: "observations.planes", node: parquet.List(parquet.Uint(8)), list: func(r *Row) (int, func(int) value) {
			return len(r.Planes), func(i int) value { return integer(int(r.Planes[i])) }
		}},
		{path: "observations.globals", node: parquet.List(parquet.Leaf(parquet.FloatType)), list: globals},
		{path: "actions", node: parquet.Int(64), value: func(r *Row) value { return parquet.Int64Value(int64(r.Action)) }},
		{path: "rewards", node: parquet.Leaf(parquet.DoubleType),
			value: func(r *Row) value { return parquet.DoubleValue(float64(r.Reward)) }},
		{path: "terminations", node: flag, value: func(r *Row) value { return boolean(r.Terminated) }},
		{path: "truncations", node: flag, value: func(r *Row) value { return boolean(r.Truncated) }},
		{path: "infos.action_mask", node: parquet.List(parquet.Int(8)), list: func(r *Row) (int, func(int) value) {
			return g.Actions, func(i int) value { return integer(int(r.Mask[i>>3] >> (i & 7) & 1)) }
		}},
		{path: "infos.score", node: parquet.Int(32), value: func(r *Row) value { return integer(r.Score) }},
	})
	return m, os.MkdirAll(m.folder, 0o755)
}

// Row implements Sink: it adds a step to the episode of the row's seat.
func (m *Minari) Row(r *Row) error {
	e := m.seats[r.Seat]
	if e == nil {
		e = &minariEpisode{
			folder: filepath.Join(m.folder, fmt.Sprintf(".seat%d", r.Seat)),
			about:  map[string]any{"seed": r.Seed, "seat": r.Seat, "policy": r.Policy, "game": r.Game},
		}
		err := os.MkdirAll(e.folder, 0o755)
		if err == nil {
			e.table, err = m.create(filepath.Join(e.folder, "part-0.parquet"), parquet.MaxRowsPerRowGroup(minariSteps+1))
		}
		if err != nil {
			return err
		}
		m.seats[r.Seat] = e
	}
	switch {
	case e.bad:
		return nil
	case r.Action == env.None:
		m.Missing++
		return m.spoil(e)
	case e.steps == minariSteps:
		m.Long++
		return m.spoil(e)
	}
	e.steps++
	return m.write(e.table, r)
}

func (m *Minari) spoil(e *minariEpisode) error {
	e.bad = true
	return errors.Join(m.close(e.table.File), os.RemoveAll(e.folder))
}

// End implements Sink. It ends the episodes with the seats' observations of s and gives them their numbers.
func (m *Minari) End(s env.State) error {
	for seat, e := range m.seats {
		if e == nil || e.bad {
			continue
		}
		s.Observe(seat, m.planes, m.globals)
		m.legal = m.legal[:0]
		if s.Acting().Has(seat) {
			m.legal = s.Legal(seat, m.legal)
		}
		setMask(m.mask, m.legal)
		last := Row{Planes: m.planes, Globals: m.globals, Mask: m.mask, Score: s.Score(seat)}
		if err := m.end(e, &last); err != nil {
			return err
		}
	}
	m.seats = [env.MaxSeats]*minariEpisode{}
	return nil
}

func (m *Minari) end(e *minariEpisode, last *Row) error {
	if err := m.write(e.table, last); err != nil {
		return err
	}
	if err := e.table.out.Close(); err != nil {
		return err
	}
	info, err := e.table.Stat()
	if err = errors.Join(err, m.close(e.table.File)); err != nil {
		return err
	}
	m.bytes += info.Size()
	e.about["id"], e.about["total_steps"] = m.Episodes, e.steps
	if err := writeJSON(filepath.Join(e.folder, "metadata.json"), e.about); err != nil {
		return err
	}
	if err := os.Rename(e.folder, filepath.Join(m.folder, fmt.Sprint(m.Episodes))); err != nil {
		return err
	}
	m.Episodes++
	m.Steps += e.steps
	return nil
}

// Close writes the metadata of the dataset, with the observation and action spaces of the game.
func (m *Minari) Close([]Source) error {
	g := m.game
	spec := fmt.Sprintf(`{"id": "blockyard/%[1]s", "entry_point": "blockyard:BlockEnv", "reward_threshold": null, `+
		`"nondeterministic": false, "max_episode_steps": null, "order_enforce": true, "disable_env_checker": false, `+
		`"kwargs": {"game": %[2]q}, "additional_wrappers": [], "vector_entry_point": "blockyard:BlockVectorEnv"}`,
		g.ID, g.Name)
	return writeJSON(filepath.Join(m.folder, "metadata.json"), map[string]any{
		"dataset_id": m.id, "minari_version": minariVersion, "data_format": "parquet", "jpeg_encoding": false,
		"total_episodes": m.Episodes, "total_steps": m.Steps, "dataset_size": float64(m.bytes/100_000) / 10,
		"observation_space": observationSpace(g), "action_space": actionSpace(g), "env_spec": spec,
		"description": fmt.Sprintf("Recorded games of %s, an episode for each seat.", g.ID),
	})
}

// observationSpace is in Minari's format, which writes infinite bounds as Infinity, not JSON.
func observationSpace(g *env.Game) string {
	p := g.Planes
	box := func(dtype, shape, low, high string) string {
		return fmt.Sprintf(`{"type": "Box", "dtype": %q, "shape": %s, "low": %s, "high": %s}`, dtype, shape, low, high)
	}
	cube := func(value string) string { return nested(value, p.C, p.H, p.W) }
	return fmt.Sprintf(`{"type": "Dict", "subspaces": {"planes": %s, "globals": %s}}`,
		box("uint8", fmt.Sprintf("[%d, %d, %d]", p.C, p.H, p.W), cube("0"), cube(fmt.Sprint(g.PlaneMax))),
		box("float32", fmt.Sprintf("[%d]", g.Globals()), nested("-Infinity", g.Globals()), nested("Infinity", g.Globals())))
}

func actionSpace(g *env.Game) string {
	return fmt.Sprintf(`{"type": "Discrete", "dtype": "int64", "start": 0, "n": %d}`, g.Actions)
}

// nested is an array of one value with the given sizes.
func nested(value string, sizes ...int) string {
	for k := len(sizes) - 1; k >= 0; k-- {
		value = "[" + strings.TrimSuffix(strings.Repeat(value+", ", sizes[k]), ", ") + "]"
	}
	return value
}
