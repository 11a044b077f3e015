package env_test

import (
	"go/ast"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/env/envtest"
)

// TestStacked says how high the files and packages of rpc/server are stacked, and that none imports or names one that
// stands on it. The first word of the name of a file says which it belongs to.
func TestStacked(t *testing.T) {
	ties := tiesOf("rpc/server", envtest.Must(files()))
	floors, circle := heights(ties)
	require.Empty(t, circle, "these name each other in a circle: %v", ties)
	require.LessOrEqual(t, len(floors), maxRooms, "%v", floors)
	require.LessOrEqual(t, slices.Max(slices.Collect(maps.Values(floors))), maxFloors, "%v", floors)
	file := func(name, text string) source { return newSource("a/"+name, "package a\n"+text) }
	files := []source{file("top.go", "var _ = middle{}"), file("middle_two.go", "type middle struct { b int }"),
		file("middle.go", "var _ = low\nfunc (middle) ask() {}"), file("low.go", "import \"blockyard/a/b\"\nvar low = b.B.Do"),
		file("b/b.go", "func (x) answer() {}")}
	floors, circle = heights(tiesOf("a", files))
	require.Empty(t, circle)
	require.Equal(t, map[string]int{"b": 1, "low": 2, "middle": 3, "top": 4}, floors)
	for _, text := range []string{"var _ = middle{}", "func f(x any) { x.ask() }"} {
		_, circle = heights(tiesOf("a", append(files, file("low_two.go", text))))
		require.NotEmpty(t, circle, text)
	}
}

// tiesOf returns which rooms of a folder name which: by imports, and within a package by names of declarations, and of
// unexported methods that only one room has.
func tiesOf(folder string, all []source) map[[2]string]bool {
	declares, names, ties := map[string]string{}, map[[2]string]bool{}, map[[2]string]bool{}
	declare := func(name, room string) { // "" is for what several rooms declare, or a field
		if one, known := declares[name]; known && one != room {
			room = ""
		}
		declares[name] = room
	}
	for _, f := range all {
		if !f.isProduct() || !within(f.path, folder) {
			continue
		}
		name, _, _ := strings.Cut(strings.TrimPrefix(f.path, folder+"/"), "/")
		room, _, _ := strings.Cut(strings.TrimSuffix(name, ".go"), "_")
		ties[[2]string{room, room}] = true
		for _, from := range f.imports() {
			if to, ours := strings.CutPrefix(from, module+"/"+folder+"/"); ours {
				to, _, _ = strings.Cut(to, "/")
				ties[[2]string{room, to}] = true
			}
		}
		if path.Dir(f.path) != folder {
			continue
		}
		for name := range f.tree.Scope.Objects {
			declare(name, room)
		}
		for _, i := range f.tree.Unresolved {
			names[[2]string{room, i.Name}] = true
		}
		ast.Inspect(f.tree, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				if n.Recv != nil && !n.Name.IsExported() {
					declare("."+n.Name.Name, room)
				}
			case *ast.Field:
				for _, name := range n.Names {
					declare("."+name.Name, "")
				}
			case *ast.SelectorExpr:
				names[[2]string{room, "." + n.Sel.Name}] = true
			}
			return true
		})
	}
	for use := range names {
		if room := declares[use[1]]; room != "" {
			ties[[2]string{use[0], room}] = true
		}
	}
	return ties
}

// heights returns the floor of every room, from 1, and the rooms that stand on each other in a circle.
func heights(ties map[[2]string]bool) (floors map[string]int, circle []string) {
	floors = map[string]int{}
	for tie := range ties {
		floors[tie[0]], floors[tie[1]] = 1, 1
	}
	for range len(floors) + 1 {
		circle = nil
		for tie := range ties {
			if tie[0] != tie[1] && floors[tie[0]] <= floors[tie[1]] {
				floors[tie[0]] = floors[tie[1]] + 1
				circle = append(circle, tie[0])
			}
		}
	}
	return floors, circle
}
