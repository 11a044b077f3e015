package entry

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"blockyard/env/envtest"
)

var narrow = &Search{Options: []Option{{"width", 50}, Time, {"depth", 6}}}

func TestParseOptions(t *testing.T) {
	o := envtest.Must(narrow.ParseOptions("", nil))
	require.Equal(t, Options{Numbers: map[string]int{}}, o)
	o = envtest.Must(narrow.ParseOptions("depth=2,time=50ms,weights=a=b.json,width=50,eps=.25", nil))
	require.Equal(t, Options{"a=b.json", 50 * time.Millisecond, .25, map[string]int{"depth": 2, "width": 50}}, o)
}

func TestParseOptionsRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"ply=1":       `unknown option "ply"; there are depth, eps, time, weights, width`,
		"width=51":    `option width: "51" is not a number from 1 to 50`,
		"width=0":     `option width: "0" is not a number from 1 to 50`,
		"width=-1":    `option width: "-1" is not a number`,
		"depth":       `option depth: "" is not a number from 1 to 6`,
		"time=0s":     "option time: 0s: want more than 0",
		"time=-1s":    "option time: -1s: want more than 0",
		"time=soon":   `option time: time: invalid duration "soon"`,
		"weights":     "option weights: no file is named",
		"eps=0":       `option eps: "0" is not a probability above 0 and up to 1`,
		"eps=1.1":     `option eps: "1.1" is not a probability`,
		"eps=NaN":     `option eps: "NaN" is not a probability`,
		"width=3,":    `unknown option ""`,
		"width=3;x=1": `option width: "3;x=1" is not a number`,
	} {
		require.ErrorContains(t, envtest.Failed(narrow.ParseOptions(text, nil)), want, text)
	}
	_, err := (&Search{}).ParseOptions("time=1s", nil)
	require.EqualError(t, err, `unknown option "time"; there are eps, weights`)
}

// A value in quotes is taken as it is; so is a path of weights that exists, the longest there is.
func TestSplitOptions(t *testing.T) {
	files := []string{"lr=0.1,batch=2/net", "a", "a,ply=2", `b"c,d`}
	isFile := func(path string) bool { return slices.Contains(files, path) }
	for text, want := range map[string][]Setting{
		"":                                    nil,
		"ply":                                 {{"ply", ""}},
		"ply=1,":                              {{"ply", "1"}, {"", ""}},
		"ply=1,weights=lr=0.1,batch=2/net":    {{"ply", "1"}, {"weights", "lr=0.1,batch=2/net"}},
		"weights=lr=0.1,batch=2/net,ply=1":    {{"weights", "lr=0.1,batch=2/net"}, {"ply", "1"}},
		"weights=a,ply=2,eps=.5":              {{"weights", "a,ply=2"}, {"eps", ".5"}},
		"weights=a,ply=3":                     {{"weights", "a"}, {"ply", "3"}},
		`weights="a",ply=2`:                   {{"weights", "a"}, {"ply", "2"}},
		`weights="x,ply=2/y",ply=3`:           {{"weights", "x,ply=2/y"}, {"ply", "3"}},
		`weights=b"c,d,ply=1`:                 {{"weights", `b"c,d`}, {"ply", "1"}},
		`time="5ms",weights=none,batch=2/net`: {{"time", "5ms"}, {"weights", "none"}, {"batch", "2/net"}},
		"other=lr=0.1,batch=2/net":            {{"other", "lr=0.1"}, {"batch", "2/net"}},
	} {
		got, err := SplitOptions(text, isFile)
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
	}
	require.Equal(t, []Setting{{"weights", "a"}, {"ply", "2"}}, envtest.Must(SplitOptions("weights=a,ply=2", nil)))
	for text, want := range map[string]string{
		`weights="a,b`:       `option weights: "\"a,b": want a second quote after the value`,
		`weights="a"b,ply=1`: `option weights: "b,ply=1" after the quotes: want a comma or the end`,
	} {
		require.EqualError(t, envtest.Failed(SplitOptions(text, isFile)), want)
	}
}

// TestPathsWithCommas that are no files: whatever the parts of a path look like, the error names the path, and the
// quotes that it may need. A file that is there is not in doubt.
func TestPathsWithCommas(t *testing.T) {
	isFile := func(path string) bool { return path == "net" }
	for text, path := range map[string]string{
		"weights=lr=0.1,batch=2/net":               "lr=0.1,batch=2/net",
		"depth=2,weights=lr=1,width=2/net,time=1s": "lr=1,width=2/net",
		"weights=/runs/a,b/net,width=3":            "/runs/a,b/net",
		"weights=a=1,b=2,depth=3,c=4/net":          "a=1,b=2,depth=3,c=4/net",
	} {
		first, _, _ := strings.Cut(path, ",")
		_, err := narrow.ParseOptions(text, isFile)
		require.ErrorContains(t, err, "option weights: "+path+" is no file here, nor is "+first+"; ", text)
		require.ErrorContains(t, err, `weights="`+path+`" (`)
		envtest.Must(narrow.ParseOptions(strings.Replace(text, path, `"`+path+`"`, 1), isFile))
	}
	for _, text := range []string{"weights=net,batch=2", `weights="none",batch=2`, "batch=2,weights=none", "batch=2"} {
		_, err := narrow.ParseOptions(text, isFile)
		require.EqualError(t, err, `unknown option "batch"; there are depth, eps, time, weights, width`)
	}
}
