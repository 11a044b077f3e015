package envtest

import (
	"fmt"
	"reflect"

	"blockyard/env"
)

// facts checks that the fields of a Game are consistent.
func facts(g *env.Game, _ int, _ uint64) error {
	switch {
	case g.Name == "" || g.ID == "" || g.Rules < 1:
		return fmt.Errorf("name %q, id %q, rules %d: want all set", g.Name, g.ID, g.Rules)
	case g.MinSeats < 1 || g.MaxSeats < g.MinSeats || g.MaxSeats > env.MaxSeats:
		return fmt.Errorf("%d to %d seats", g.MinSeats, g.MaxSeats)
	case g.Rows < 1 || g.Rows > g.MaxSeats:
		return fmt.Errorf("%d rows for %d seats", g.Rows, g.MaxSeats)
	case g.Actions < 1 || g.Actions >= int(env.None):
		return fmt.Errorf("%d actions, want 1 to %d", g.Actions, env.None-1)
	case g.MaxLegal < 1 || g.MaxLegal > g.Actions:
		return fmt.Errorf("MaxLegal %d of %d actions", g.MaxLegal, g.Actions)
	case g.Planes.Len() < 1 || len(g.PlaneNames) != g.Planes.C:
		return fmt.Errorf("planes %v with %d names", g.Planes, len(g.PlaneNames))
	case g.GlobalRanges != nil && len(g.GlobalRanges) != g.Globals():
		return fmt.Errorf("%d ranges of %d globals", len(g.GlobalRanges), g.Globals())
	}
	for k, r := range g.GlobalRanges {
		if !(r.Low <= 0 && r.High >= 0) {
			return fmt.Errorf("global %q lies in %v: want a range with 0 in it", g.GlobalNames[k], r)
		}
	}
	seen := map[string]bool{}
	for _, name := range append(append([]string{}, g.PlaneNames...), g.GlobalNames...) {
		if name == "" || seen[name] {
			return fmt.Errorf("plane or global %q: want names, each once", name)
		}
		seen[name] = true
	}
	return nil
}

// flat checks that a State has no pointers and only exported fields of fixed size.
func flat(g *env.Game, seats int, _ uint64) error {
	t := reflect.TypeOf(g.New(seats))
	if t.Kind() != reflect.Pointer || t.Elem().Kind() != reflect.Struct {
		return fmt.Errorf("a state is a %v, want a pointer to a struct", t)
	}
	return flatType(t.Elem(), t.Elem().Name())
}

func flatType(t reflect.Type, path string) error {
	switch t.Kind() {
	case reflect.Bool, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Float32, reflect.Float64:
		return nil
	case reflect.Array:
		return flatType(t.Elem(), path+"[]")
	case reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			if !f.IsExported() {
				return fmt.Errorf("%s.%s is not exported", path, f.Name)
			}
			if err := flatType(f.Type, path+"."+f.Name); err != nil {
				return err
			}
		}
		return nil
	}
	return fmt.Errorf("%s is a %v: want numbers of fixed size, bools, arrays and structs of them", path, t)
}
