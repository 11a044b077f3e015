package curves

import (
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"blockyard/env/envtest"
)

// A file begins with a record that names the format. The others have the bytes of a record that tensorboard's own
// EventFileWriter wrote.
func TestRecordsAreThoseOfTensorBoard(t *testing.T) {
	file := envtest.Must(os.ReadFile("testdata/tensorboard.tfevents"))
	one := file[88:] // the second record: its length and a checksum, time, step, summary, a checksum
	head, value := one[12:23], one[25:len(one)-4]
	seconds := math.Float64frombits(binary.LittleEndian.Uint64(head[1:]))
	now, dir := time.Unix(0, int64(seconds*1e9)), t.TempDir()
	w := envtest.Must(Create(dir, now))
	loss := Scalar{"loss", 0.25}
	require.NoError(t, w.Write(Event{Time: now, Step: 7, Scalars: []Scalar{loss}}))
	require.NoError(t, w.Write(Event{Time: now, Step: 7, Scalars: []Scalar{loss, loss}}))
	require.NoError(t, w.Close())
	second, err := Create(dir, now) // the same second, another file
	require.NoError(t, err)
	require.NoError(t, second.Close())

	names := envtest.Must(filepath.Glob(filepath.Join(dir, "events.out.tfevents.*")))
	require.Len(t, names, 2)
	got := envtest.Must(os.ReadFile(names[0]))
	version := slices.Concat(head[:9], []byte{2 << 3, 0, 3<<3 | 2, 13}, []byte("brain.Event:2"))
	two := slices.Concat(head, []byte{5<<3 | 2, 26}, value, value)
	require.Equal(t, slices.Concat(frame(version), one, frame(two)), got)
}
