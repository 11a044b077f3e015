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
	kind := "integer"
	switch t.Kind() {
	case reflect.Pointer:
		s.add(path, note, t.Elem())
		return
	case reflect.Slice, reflect.Array:
		s.add(path+"[]", note, t.Elem())
		return
	case reflect.Map:
		s.add(path+"{}", note, t.Elem())
		return
	case reflect.String:
		kind = "string"
	case reflect.Bool:
		kind = "boolean"
	case reflect.Float32, reflect.Float64:
		kind = "number"
	case reflect.Struct:
		switch first := s.seen[t]; {
		case t == reflect.TypeFor[time.Time]():
			kind = "string"
		case first != "":
			kind = "as " + first
		default:
			s.seen[t] = path
			s.fields(path, t)
			return
		}
	}
	s.rows = append(s.rows, fmt.Sprintf("%s | %s%s", path, kind, note))
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
		note := ""
		if strings.Contains(options, "omitempty") {
			note = ", or absent"
		} else if f.Type.Kind() == reflect.Pointer {
			note = ", or null"
		}
		if strings.Contains(options, "string") {
			f.Type = reflect.TypeFor[string]()
		}
		s.add(strings.TrimPrefix(path+"."+name, "."), note, f.Type)
	}
}

// JSON.md describes every field of what commands print with --json, and no other.
func TestJSONIsDescribed(t *testing.T) {
	row := regexp.MustCompile("^\\| `([^`]+)` \\| ([^|]+) \\| ([^|]+) \\|$")
	described, headings := map[string][]string{}, []string{}
	for _, line := range strings.Split(read("../JSON.md"), "\n") {
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
	for _, command := range []string{"arena", "analyze", "host", "ladder", "play", "serve dropblox", "tournament"} {
		require.Regexp(t, `--json .*(\n.*){0,2}agents/\s*JSON\.md`, succeeds(t, command+" --help"), command)
	}
}
