package entry

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var narrow = &Search{Options: []Option{{"width", 50}, Time, {"depth", 6}}}

func TestParseOptions(t *testing.T) {
	o, err := narrow.ParseOptions("")
	require.NoError(t, err)
	require.Equal(t, Options{Numbers: map[string]int{}}, o)
	o, err = narrow.ParseOptions("depth=2,time=50ms,weights=a=b.json,width=50,eps=.25")
	require.NoError(t, err)
	require.Equal(t, Options{"a=b.json", 50 * time.Millisecond, .25, map[string]int{"depth": 2, "width": 50}}, o)
}

func TestParseOptionsRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"ply=1":       `unknown option "ply"; there are depth, eps, time, weights, width`,
		"width=51":    `option width: "51" is not a number from 1 to 50`,
		"depth":       `option depth: "" is not a number from 1 to 6`,
		"time=0s":     "option time: 0s: want more than 0",
		"time=soon":   `option time: time: invalid duration "soon"`,
		"weights":     "option weights: no file is named",
		"eps=0":       `option eps: "0" is not a probability above 0 and up to 1`,
		"eps=1.1":     `option eps: "1.1" is not a probability`,
		"eps=NaN":     `option eps: "NaN" is not a probability`,
		"width=3,":    `unknown option ""`,
		"width=3;x=1": `option width: "3;x=1" is not a number`,
	} {
		_, err := narrow.ParseOptions(text)
		require.ErrorContains(t, err, want, text)
	}
	_, err := (&Search{}).ParseOptions("time=1s")
	require.EqualError(t, err, `unknown option "time"; there are eps, weights`)
}
