package curves

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func readAll(t *testing.T, r io.Reader) []Event {
	t.Helper()
	var all []Event
	for {
		e, err := read(r)
		if errors.Is(err, io.EOF) {
			return all
		}
		require.NoError(t, err)
		all = append(all, e)
	}
}

func TestWhatIsWrittenIsRead(t *testing.T) {
	dir, now := t.TempDir(), time.Unix(1700000000, 0)
	w, err := Create(dir, now)
	require.NoError(t, err)
	events := []Event{
		{Time: now.Add(time.Second), Step: 3, Scalars: []Scalar{{"loss", 0.5}, {"score/hand", 0.75}}},
		{Time: now.Add(2 * time.Second), Step: 1 << 40, Scalars: []Scalar{{"loss", -1e-9}}},
	}
	for _, e := range events {
		require.NoError(t, w.Write(e))
	}
	require.NoError(t, w.Close())
	second, err := Create(dir, now) // the same second, another file
	require.NoError(t, err)
	require.NoError(t, second.Close())

	names, err := filepath.Glob(filepath.Join(dir, "events.out.tfevents.*"))
	require.NoError(t, err)
	require.Len(t, names, 2)
	f, err := os.Open(names[0])
	require.NoError(t, err)
	defer func() { require.NoError(t, f.Close()) }()
	got := readAll(t, f)
	require.Len(t, got, 3)
	require.Equal(t, "brain.Event:2", got[0].Version)
	require.Equal(t, events, got[1:])
}

// The bytes were made by tensorboard's own EventFileWriter.
func TestReadsWhatTensorBoardWrote(t *testing.T) {
	data, err := os.ReadFile("testdata/tensorboard.tfevents")
	require.NoError(t, err)
	got := readAll(t, bytes.NewReader(data))
	require.Equal(t, "brain.Event:2", got[0].Version)
	require.Equal(t, []Scalar{{"loss", 0.25}}, got[1].Scalars)
	require.Equal(t, int64(7), got[1].Step)
}

// The check value of CRC-32C, from RFC 3720 B.4: 32 bytes of zeros give 0x8a9136aa.
func TestMasked(t *testing.T) {
	c := uint32(0x8a9136aa)
	require.Equal(t, (c>>15|c<<17)+0xa282ead8, masked(make([]byte, 32)))
}

func TestReadRefuses(t *testing.T) {
	good := frame(encode(Event{Step: 1, Scalars: []Scalar{{"a", 1}}}))
	flip := func(i int) []byte {
		b := append([]byte{}, good...)
		b[i] ^= 1
		return b
	}
	for name, c := range map[string]struct {
		file []byte
		says string
	}{
		"length":    {flip(0), "length's checksum"},
		"body":      {flip(14), "record's checksum"},
		"cut":       {good[:len(good)-3], "cut off"},
		"no proto":  {frame([]byte{0xff, 0xff}), "tfevents"},
		"bad value": {frame([]byte{0x2a, 2, 0x0a, 9}), "tfevents"},
	} {
		_, err := read(bytes.NewReader(c.file))
		require.ErrorContains(t, err, c.says, name)
	}
	_, err := read(bytes.NewReader(good[:5]))
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
}

func FuzzRead(f *testing.F) {
	f.Add(encode(Event{Step: 1, Scalars: []Scalar{{"a", 1}}}))
	f.Add(encode(Event{Version: "brain.Event:2"}))
	f.Fuzz(func(t *testing.T, data []byte) {
		if e, err := read(bytes.NewReader(frame(data))); err == nil && e.Version == "" {
			again, err := read(bytes.NewReader(frame(encode(e))))
			require.NoError(t, err)
			require.Len(t, again.Scalars, len(e.Scalars))
		}
		_, _ = read(bytes.NewReader(data)) // must not panic
	})
}
