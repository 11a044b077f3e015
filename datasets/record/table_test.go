package record_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/datasets/record"
	"blockyard/env"
	"blockyard/env/blocking"
)

// A record of a variant with a table replays with that table only, and so does one that starts in a position of it.
func TestTheTableMustBeThatOfTheRecord(t *testing.T) {
	lines := blocking.DefaultTable.Lines()
	lines[4] = "E 1 4 ####"
	shapes, err := blocking.ReadShapes(strings.NewReader(strings.Join(lines, "\n")))
	require.NoError(t, err)
	g, err := blocking.With(blocking.NewTable(shapes))
	require.NoError(t, err)

	rec := record.New(g, 3, []string{"first", "first"})
	s := g.New(2)
	s.Reset(3)
	for s.Acting() != 0 {
		m := env.Alone(s.Acting().First(), s.Legal(s.Acting().First(), nil)[0])
		rec.Add(s.Acting(), m)
		s.Step(m)
	}
	rec.End(s)
	require.NoError(t, record.Check(g, rec))

	changed := *rec
	changed.Table = blocking.DefaultTable.Lines()
	require.ErrorContains(t, record.Check(g, &changed), "another table")
	changed.Table = nil
	require.ErrorContains(t, record.Check(g, &changed), "another table")
	changed.Game = "blocking"
	require.ErrorContains(t, record.Check(g, &changed), "the record is of game blocking")

	s.Reset(3)
	rec.Start, err = env.Encode(nil, s)
	require.NoError(t, err)
	require.NoError(t, record.Check(g, rec))
	changed.Start = rec.Start
	require.ErrorContains(t, record.Check(blocking.Game, &changed), "the first position has another table")
}
