package env_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// stacked are folders whose packages and files stand on each other as rooms do. The room of a file is the first word of
// its name.
var stacked = []string{"rpc/server", "rpc/session"}

// TestFloors holds stacked folders to the rooms and floors of all others: no file names what one above it declares.
func TestFloors(t *testing.T) {
	for _, folder := range stacked {
		ties := tiesOf(folder, productGo(t))
		floors, circle := heights(ties)
		require.Empty(t, circle, "these rooms of %s name each other in a circle: %v", folder, ties)
		require.LessOrEqual(t, len(floors), maxRooms, "%s: %v", folder, floors)
		require.LessOrEqual(t, slices.Max(slices.Collect(maps.Values(floors))), maxFloors, "%s: %v", folder, floors)
	}
}

// tiesOf returns which rooms of a folder name which: by imports, and within a package by names of declarations, and of
// unexported methods that only one room has.
func tiesOf(folder string, files []source) map[[2]string]bool {
	declares, names, ties := map[string][]string{}, map[string][]string{}, map[[2]string]bool{}
	for _, f := range files {
		if !within(f.path, folder) {
			continue
		}
		tree, err := parser.ParseFile(token.NewFileSet(), f.path, f.text, 0)
		if err != nil {
			panic(err)
		}
		room, _, below := strings.Cut(strings.TrimPrefix(f.path, folder+"/"), "/")
		if !below {
			room, _, _ = strings.Cut(strings.TrimSuffix(room, ".go"), "_")
		}
		ties[[2]string{room, room}] = true
		for _, i := range tree.Imports {
			if to, ours := strings.CutPrefix(strings.Trim(i.Path.Value, `"`), path.Join(module, folder)+"/"); ours {
				to, _, _ = strings.Cut(to, "/")
				ties[[2]string{room, to}] = true
			}
		}
		if below {
			continue
		}
		for name := range tree.Scope.Objects {
			declares[name] = append(declares[name], room)
		}
		for _, i := range tree.Unresolved {
			names[room] = append(names[room], i.Name)
		}
		ast.Inspect(tree, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				if n.Recv != nil && !n.Name.IsExported() {
					declares["."+n.Name.Name] = append(declares["."+n.Name.Name], room)
				}
			case *ast.Field:
				for _, name := range n.Names {
					declares["."+name.Name] = append(declares["."+name.Name], "a field")
				}
			case *ast.SelectorExpr:
				names[room] = append(names[room], "."+n.Sel.Name)
			}
			return true
		})
	}
	for room, all := range names {
		for _, name := range all {
			if in := slices.Compact(slices.Sorted(slices.Values(declares[name]))); len(in) == 1 && in[0] != "a field" {
				ties[[2]string{room, in[0]}] = true
			}
		}
	}
	return ties
}

// heights returns the floor of every room, from 1, and the rooms that stand on each other in a circle.
func heights(ties map[[2]string]bool) (floors map[string]int, circle []string) {
	floors = map[string]int{}
	for tie, is := range ties {
		if is {
			floors[tie[0]], floors[tie[1]] = 1, 1
		}
	}
	for range len(floors) + 1 {
		circle = nil
		for tie, is := range ties {
			if is && tie[0] != tie[1] && floors[tie[0]] <= floors[tie[1]] {
				floors[tie[0]] = floors[tie[1]] + 1
				circle = append(circle, tie[0])
			}
		}
	}
	return floors, circle
}

// TestFloorRules shows what is a circle.
func TestFloorRules(t *testing.T) {
	file := func(name, text string) source { return source{path: "a/" + name, text: "package a\n" + text} }
	files := []source{file("top.go", "var _ = middle{}"), file("middle_two.go", "type middle struct { b int }"),
		file("middle.go", "var _ = low\nfunc (middle) ask() {}"), file("low.go", "import \"blockyard/a/b\"\nvar low = b.B.Do"),
		file("b/b.go", "func (x) answer() {}")}
	floors, circle := heights(tiesOf("a", files))
	require.Empty(t, circle)
	require.Equal(t, map[string]int{"b": 1, "low": 2, "middle": 3, "top": 4}, floors)
	for _, text := range []string{"var _ = middle{}", "func f(x any) { x.ask() }"} {
		_, circle = heights(tiesOf("a", append(files, file("low_two.go", text))))
		require.NotEmpty(t, circle, text)
	}
}
