package record_test

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"blockyard/datasets/record"

	"github.com/klauspost/compress/gzip"
	"github.com/stretchr/testify/require"
)

// FuzzReader reads any bytes as a file of records, checks the games in it, and holds that
// what can be read can be written and read again.
func FuzzReader(f *testing.F) {
	for seed := range uint64(6) {
		var plain, zipped bytes.Buffer
		w := record.NewWriter(&plain)
		_ = w.Write(play(toys[seed%2], seed, seed > 2))
		_ = w.Close()
		z := gzip.NewWriter(&zipped)
		_, _ = z.Write(plain.Bytes())
		_ = z.Close()
		f.Add(plain.Bytes())
		f.Add(zipped.Bytes())
		f.Add(zipped.Bytes()[:zipped.Len()-9])
	}
	f.Add([]byte(`{"game":"toy:pick","rules":1,"seed":"1","seats":2,"agents":["a","b"],"choices":[0],"more":true}` + "\n" +
		`{"part":1,"choices":[1],"scores":[0,0],"results":[0,0]}`))
	f.Add([]byte("{}\n[]\nnull\n1"))
	f.Fuzz(func(t *testing.T, file []byte) {
		r, err := record.NewReader("fuzz", bytes.NewReader(file))
		if err != nil {
			return
		}
		for rec, err := range r.All() {
			if err != nil {
				break
			}
			var out bytes.Buffer
			w := record.NewWriter(&out)
			require.NoError(t, errors.Join(w.Write(rec), w.Close()), "read but not written")
			_, err := reader(t, out.Bytes()).Read()
			require.NoError(t, err, "written but not read")
		}
		r, _ = record.NewReader("fuzz", bytes.NewReader(file))
		for range 1000 {
			_, err := record.CheckNext(r, lookup)
			if err != nil && !errors.Is(err, record.ErrDiffers) || errors.Is(err, io.EOF) {
				return
			}
		}
	})
}
