package commands

import (
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	contests "blockyard/agents/contest/dropblox/server"
	"blockyard/agents/match"
	"blockyard/agents/match/tournament"
	"blockyard/agents/play/plugin"
	"blockyard/datasets/viewer/analysis"
)

// outputs are the results that commands print with --json, by their headings in JSON.md.
var outputs = []struct {
	heading string
	result  any
}{
	{"arena, ladder, host, tournament and league", tournament.Report{}},
	{"league try", tournament.Trial{}},
	{"analyze: a turn", analysis.Position{}},
	{"analyze: a game", analysis.Game{}},
	{"play --plugin", plugin.Report{}},
	{"serve dropblox: a round", contests.Round{}},
}

// A shape lists the fields of a result: a row of path and type for each.
type shape struct {
	rows []string
	seen map[reflect.Type]string // path of the first struct of a type
}

func (s *shape) add(path, note string, t reflect.Type) {
	row := func(kind string) { s.rows = append(s.rows, fmt.Sprintf("%s | %s%s", path, kind, note)) }
	switch {
	case t == reflect.TypeFor[time.Time]():
		row("string")
		return
	case t.Kind() == reflect.Struct && s.seen[t] != "":
		row("as " + s.seen[t])
		return
	}
	switch t.Kind() {
	case reflect.Pointer:
		s.add(path, note, t.Elem())
	case reflect.Slice, reflect.Array:
		s.add(path+"[]", note, t.Elem())
	case reflect.Map:
		s.add(path+"{}", note, t.Elem())
	case reflect.String:
		row("string")
	case reflect.Bool:
		row("boolean")
	case reflect.Float32, reflect.Float64:
		row("number")
	case reflect.Struct:
		s.seen[t] = path
		s.fields(path, t)
	default:
		row("integer")
	}
}

// fields adds the fields of a struct, those of embedded structs among them.
func (s *shape) fields(path string, t reflect.Type) {
	for _, f := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if len(f.Index) > 1 || name == "-" || !f.IsExported() {
			continue
		}
		if f.Anonymous && name == "" {
			if f.Type.Kind() == reflect.Pointer {
				f.Type = f.Type.Elem()
			}
			s.fields(path, f.Type)
			continue
		}
		note, kind := "", f.Type
		switch {
		case strings.Contains(options, "omitempty"):
			note = ", or absent"
		case kind.Kind() == reflect.Pointer:
			note = ", or null"
		}
		if strings.Contains(options, "string") {
			kind = reflect.TypeFor[string]()
		}
		s.add(strings.TrimPrefix(path+"."+name, "."), note, kind)
	}
}

// JSON.md describes every field of what commands print with --json, and no other.
func TestJSONIsDescribed(t *testing.T) {
	row := regexp.MustCompile("^\\| `([^`]+)` \\| ([^|]+) \\| ([^|]+) \\|$")
	described, headings := map[string][]string{}, []string{}
	for _, line := range strings.Split(read(t, "../JSON.md"), "\n") {
		if heading, ok := strings.CutPrefix(line, "## "); ok {
			headings = append(headings, heading)
		}
		if m := row.FindStringSubmatch(line); m != nil {
			at := headings[len(headings)-1]
			described[at] = append(described[at], m[1]+" | "+m[2])
			require.NotEmpty(t, strings.TrimSpace(m[3]), line)
		}
	}
	var want []string
	for _, o := range outputs {
		s := shape{seen: map[reflect.Type]string{}}
		if o.heading == "league try" {
			s.seen[reflect.TypeFor[match.Report]()] = "arena"
		}
		s.fields("", reflect.TypeOf(o.result))
		want = append(want, o.heading)
		require.Equal(t, strings.Join(s.rows, "\n"), strings.Join(described[o.heading], "\n"), o.heading)
	}
	require.Equal(t, want, headings)
}

// Every --json flag says where its output is described.
func TestJSONFlagsNameTheDescription(t *testing.T) {
	for _, command := range []string{
		"arena", "analyze", "host", "ladder", "play", "serve dropblox", "tournament",
	} {
		out := succeeds(t, command+" --help")
		_, flag, found := strings.Cut(out, "--json ")
		require.True(t, found, command)
		flag = strings.Join(strings.Fields(flag[:min(400, len(flag))]), " ")
		require.Contains(t, flag, "agents/JSON.md", command)
	}
}
