package envtest

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"blockyard/env"
)

// legalIn checks that Legal appends actions in ascending order, within MaxLegal and Actions: at
// least one for an acting seat and none for others.
func (w *walker) legalIn(s env.State, _ int) error {
	acting := s.Acting()
	if acting>>w.seats != 0 || acting.Len() > w.g.Rows {
		return fmt.Errorf("acting %b of %d seats, %d rows", acting, w.seats, w.g.Rows)
	}
	for seat := range w.seats {
		err := legalOf(w.g, s, seat, acting.Has(seat))
		if m, ok := s.(env.Masker); ok && err == nil && acting.Has(seat) {
			err = maskOf(w.g, s, m, seat)
		}
		if err != nil {
			return fmt.Errorf("seat %d: %w", seat, err)
		}
	}
	return nil
}

func legalOf(g *env.Game, s env.State, seat int, acts bool) error {
	legal := s.Legal(seat, []env.Action{7, 7})
	if len(legal) < 2 || legal[0] != 7 || legal[1] != 7 {
		return errors.New("calling Legal does not append to what it is given")
	}
	legal = legal[2:]
	if acts != (len(legal) > 0) {
		return fmt.Errorf("%d legal actions, acting: %v", len(legal), acts)
	}
	if len(legal) > g.MaxLegal {
		return fmt.Errorf("%d legal actions, MaxLegal is %d", len(legal), g.MaxLegal)
	}
	for k, a := range legal {
		if int(a) >= g.Actions {
			return fmt.Errorf("action %d of %d", a, g.Actions)
		}
		if k > 0 && legal[k-1] >= a {
			return fmt.Errorf("legal actions %d, %d do not ascend", legal[k-1], a)
		}
	}
	return nil
}

// maskOf checks that MaskLegal sets the bits of the legal actions and no others.
func maskOf(g *env.Game, s env.State, m env.Masker, seat int) error {
	got, want := make([]byte, (g.MaskLen()+7)&^7), make([]byte, (g.MaskLen()+7)&^7)
	m.MaskLegal(seat, got)
	for _, a := range s.Legal(seat, nil) {
		want[a>>3] |= 1 << (a & 7)
	}
	if !bytes.Equal(got, want) {
		return fmt.Errorf("MaskLegal sets %x, Legal lists %x", got, want)
	}
	return nil
}

// actionText checks that Parse is the inverse of Text, that no two actions share a text, and that
// Parse refuses other texts.
func actionText(g *env.Game, _ int, _ uint64) error {
	seen := map[string]env.Action{}
	for a := range env.Action(g.Actions) {
		text := g.Text(a)
		if b, ok := seen[text]; ok || text == "" {
			return fmt.Errorf("actions %d and %d are both %q", b, a, text)
		}
		seen[text] = a
		b, err := g.Parse(text)
		if err != nil || a != b {
			return fmt.Errorf("action %d is %q, which is read as %d, %v", a, text, b, err)
		}
	}
	long := strings.Repeat("r2 x4 ", 1000)
	for _, text := range []string{"", " ", "\x00", "nonsense", "-1", "99999999999999999999", long} {
		if a, err := g.Parse(text); err == nil {
			return fmt.Errorf("%q is read as action %d, want an error", text, a)
		}
	}
	return nil
}

// stepAndCheck checks that Check accepts every position, also when seats play None.
func stepAndCheck(g *env.Game, seats int, seed uint64) error {
	for _, none := range []float64{0, 0.1, 1} {
		w := newWalker(g, seats, seed)
		w.none = none
		err := w.each(seed, func(s env.State, _ int) error { return s.Check() })
		if err != nil {
			return fmt.Errorf("with %v of the choices missing: %w", none, err)
		}
	}
	return nil
}

// illegalInput checks that Apply refuses illegal actions, names them, and changes nothing.
func (w *walker) illegalInput(s env.State, _ int) error {
	before := w.clone(s)
	for range 8 {
		seat, a := w.rng.IntN(w.seats), env.Action(w.rng.IntN(w.g.Actions+2))
		if slices.Contains(s.Legal(seat, nil), a) {
			continue
		}
		err := env.Apply(w.g, s, env.Alone(seat, a))
		if !errors.Is(err, env.ErrIllegal) {
			return fmt.Errorf("seat %d playing %d: error %v, want ErrIllegal", seat, a, err)
		}
		named := s.Acting() == 0 || strings.Contains(err.Error(), "seat "+strconv.Itoa(seat))
		if !named || !strings.Contains(err.Error(), w.g.Name) {
			return fmt.Errorf("%q does not name %s and seat %d", err, w.g.Name, seat)
		}
		if !same(before, s) {
			return fmt.Errorf("refusing seat %d action %d changed the state", seat, a)
		}
	}
	return nil
}

// result checks that Result is 0 until the game is over, and then within [-1, 1].
func (w *walker) result(s env.State, _ int) error {
	for seat := range w.seats {
		r := float64(s.Result(seat))
		if s.Acting() != 0 && r != 0 {
			return fmt.Errorf("seat %d has result %v and the game goes on", seat, r)
		}
		if math.IsNaN(r) || r < -1 || r > 1 {
			return fmt.Errorf("seat %d has result %v", seat, r)
		}
	}
	return nil
}

// determinism checks that the same seed and actions give the same game, in a new State and in one that
// was used before.
func (w *walker) determinism(s env.State, ply int) error {
	if ply == 0 {
		w.other.Reset(w.seed)
	} else {
		w.other.Step(w.played)
	}
	if d := w.apart(s, w.other); d != "" {
		return fmt.Errorf("played twice, the game differs in %s", d)
	}
	return nil
}

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
	for _, term := range g.Potential {
		if !slices.Contains(g.GlobalNames, term.Global) {
			return fmt.Errorf("the potential has the global %q, which the game has not", term.Global)
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
