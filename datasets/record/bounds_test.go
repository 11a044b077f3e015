package record

import (
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/env"
	"blockyard/env/envtest"
)

// A long game whose parts never end, or lack what the others need, is refused before it fills the memory.
func TestManyPartsAreRefused(t *testing.T) {
	require.NoError(t, fits(make([]env.Action, MaxChoices), make([][]uint16, MaxDraws)))
	require.ErrorContains(t, fits(make([]env.Action, MaxChoices+1), nil), "choices or more, want at most 67108864")
	require.ErrorContains(t, fits(nil, make([][]uint16, MaxDraws+1)), "steps or more, want at most 16777216")

	const head = `{"game":"blocking","seats":2,"agents":["a","b"],"choices":[],"more":true}` + "\n"
	const values = head + `{"part":1,"more":true,"choices":[1],"values":[1,2]}`
	r := envtest.Must(NewReader("f", strings.NewReader(values)))
	_, err := r.Read()
	require.ErrorContains(t, err, "f:2: invalid record: 2 values, want none or one for each of the 1 choices")

	endless, writer := io.Pipe()
	go func() {
		for text := head; ; text = `{"part":1,"more":true,"choices":[1]}` + "\n" {
			if _, err := io.WriteString(writer, text); err != nil {
				return
			}
		}
	}()
	defer endless.Close()
	r = envtest.Must(NewReader("f", endless))
	r.Limit(1000, "split it")
	for err = nil; err == nil; {
		err = r.ReadPart(new(Record))
		r.part = 0 // every part is the next
	}
	require.ErrorContains(t, err, "the file has more than 1000 bytes uncompressed: split it")
}
