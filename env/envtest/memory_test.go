package envtest

import (
	"bytes"
	"fmt"
	"reflect"
	"regexp"
	"testing"

	"blockyard/env"
)

// copies checks that CopyFrom makes any State equal to another, and that both are then independent.
func (w *walker) copies(s env.State, _ int) error {
	w.other.CopyFrom(s)
	if !same(w.other, s) {
		return fmt.Errorf("a copy is not equal")
	}
	before := w.clone(s)
	if !same(before, s) {
		return fmt.Errorf("a copy in a new state is not equal")
	}
	if s.Acting() != 0 {
		w.other.Step(w.moves(w.other))
	} else {
		w.other.Reset(w.seed)
	}
	if !same(before, s) {
		return fmt.Errorf("playing on in a copy changes the original")
	}
	return nil
}

// roundTrip checks that Decode reads what Encode wrote and refuses any other length.
func (w *walker) roundTrip(s env.State, _ int) error {
	data, err := env.Encode([]byte("head"), s)
	if err != nil {
		return err
	}
	if !bytes.HasPrefix(data, []byte("head")) || len(data) != 4+env.EncodedLen(s) {
		return fmt.Errorf("env.Encode appends %d bytes, want %d", len(data)-4, env.EncodedLen(s))
	}
	if err := env.Decode(w.other, w.scratch, data[4:]); err != nil {
		return err
	}
	if !same(w.other, s) {
		return fmt.Errorf("a decoded state is not equal")
	}
	for _, wrong := range [][]byte{nil, data[5:], append(data, 0)[4:]} {
		if err := env.Decode(w.other, w.scratch, wrong); err == nil {
			return fmt.Errorf("%d bytes are accepted, want %d", len(wrong), len(data)-4)
		}
		if !same(w.other, s) {
			return fmt.Errorf("refusing bytes changes the state")
		}
	}
	return nil
}

// foreignBytes checks that every State that Decode accepts can be used safely, and that Check names a
// field for every State that it refuses.
func foreignBytes(g *env.Game, seats int, seed uint64) error {
	w := newWalker(g, seats, seed)
	err := w.each(seed, func(s env.State, ply int) error {
		if ply%4 != 0 {
			return nil
		}
		data, err := env.Encode(nil, s)
		if err != nil {
			return err
		}
		for range 8 {
			for range 1 + w.rng.IntN(3) {
				data[w.rng.IntN(len(data))] = byte(w.rng.Uint32())
			}
			if err := exercise(g, seats, data, uint64(ply)); err != nil {
				return err
			}
		}
		return nil
	})
	for k := 0; err == nil && k < 200; k++ {
		data := make([]byte, env.EncodedLen(g.New(seats)))
		for i := range data {
			if data[i] = byte(w.rng.Uint32()); k%2 == 0 {
				data[i] &= 1
			}
		}
		err = exercise(g, seats, data, uint64(k))
	}
	return err
}

// counts checks that Check bounds every number of a position in which somebody must act: no game reaches half of what its
// type holds. The generators are excepted; every word is a state of theirs.
func (w *walker) counts(s env.State, ply int) error {
	if ply%16 != 0 || s.Acting() == 0 {
		return nil
	}
	return halfFull(s, reflect.ValueOf(s).Elem(), "")
}

// halfFull raises each number of s below at, one at a time, and returns an error if Check accepts one.
func halfFull(s env.State, at reflect.Value, path string) error {
	return leaves(at, path, func(at reflect.Value, path string) error {
		half := uint64(1) << (8*at.Type().Size() - 2)
		was := reflect.ValueOf(at.Interface())
		defer at.Set(was)
		switch {
		case at.Kind() == reflect.Bool:
			return nil
		case at.CanInt():
			at.SetInt(int64(half))
		default:
			at.SetUint(half)
		}
		if s.Check() == nil {
			return fmt.Errorf("%s is %d instead of %v, and Check accepts it", path[1:], half, was)
		}
		return nil
	})
}

// leaves visits every number and bool below at, apart from generators, until visit returns an error.
func leaves(at reflect.Value, path string, visit func(at reflect.Value, path string) error) (err error) {
	switch at.Kind() {
	case reflect.Struct:
		for i := 0; err == nil && i < at.NumField(); i++ {
			if name := at.Type().Field(i).Name; name != "Rand" && name != "Twister" {
				err = leaves(at.Field(i), path+"."+name, visit)
			}
		}
	case reflect.Array:
		for i := 0; err == nil && i < at.Len(); i++ {
			err = leaves(at.Index(i), fmt.Sprintf("%s[%d]", path, i), visit)
		}
	default:
		err = visit(at, path)
	}
	return err
}

// unhashed are the parts of a position that are not in its hash, by game: they follow from others, or decide nothing.
var unhashed = map[string]*regexp.Regexp{
	"blocking":   regexp.MustCompile(`Points|Letters|(Cells|Left)\[[23]\]`),
	"tetrisduel": regexp.MustCompile(`Last|Winner|Cells\[1[01]\]|Deal\[([4-9]|\d\d)\]`),
}

// hashes checks that everything else in a position changes its hash, and that positions of one hash are equal, those of
// random games and others a move beside them.
func hashes(g *env.Game, seats int, seed uint64) error {
	w, seen := newWalker(g, seats, seed), map[uint64]any{}
	if _, ok := w.other.(env.Hasher); !ok {
		return nil
	}
	known := func(s env.State) bool {
		v, h := reflect.ValueOf(s).Elem(), s.(env.Hasher).Hash()
		v.FieldByName("Rand").SetZero()
		before, found := seen[h]
		seen[h] = v.Interface()
		return found && before != v.Interface()
	}
	skip := unhashed[g.Name]
	known(w.clone(w.other))
	err := leaves(reflect.ValueOf(w.other).Elem(), "", func(at reflect.Value, path string) error {
		defer at.Set(reflect.ValueOf(at.Interface()))
		switch {
		case at.Kind() == reflect.Bool:
			at.SetBool(!at.Bool())
		case at.CanInt():
			at.SetInt(at.Int() ^ 1)
		default:
			at.SetUint(at.Uint() ^ 1)
		}
		if (skip == nil || !skip.MatchString(path)) && seats == g.MinSeats && known(w.clone(w.other)) {
			return fmt.Errorf("%s does not change the hash", path[1:])
		}
		return nil
	})
	if err != nil {
		return err
	}
	return w.each(seed, func(s env.State, _ int) error {
		for range 8 {
			next := w.clone(s)
			if next.Step(w.moves(s)); known(next) {
				return fmt.Errorf("positions have the same hash:\n%v\n%v", seen[next.(env.Hasher).Hash()], next)
			}
		}
		return nil
	})
}

// telling matches an error of Check that names a field and says what its value should be.
var telling = regexp.MustCompile(`: [A-Z]\w*(\.\w+|\[\d+\])* .*, want `)

// exercise decodes data. If Decode accepts it, exercise calls all methods of the State and plays on.
// It returns an error on a panic, or if a move leads to a State that Check refuses.
func exercise(g *env.Game, seats int, data []byte, seed uint64) error {
	s := g.New(seats)
	if err := env.Decode(s, g.New(seats), data); err != nil {
		if len(data) == env.EncodedLen(s) && !telling.MatchString(err.Error()) {
			return fmt.Errorf("%q does not name a field and what is wanted of it", err)
		}
		return nil
	}
	err := guard(func() error {
		w := newWalker(g, seats, seed)
		w.none = 0.1
		for range 12 {
			if err := w.poke(s, seed); err != nil || s.Acting() == 0 {
				return err
			}
			s.Step(w.moves(s))
			if err := s.Check(); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("decoded from %x: %w", data, err)
	}
	return nil
}

// poke calls the methods of s that do not change it, and Hide and After on copies.
func (w *walker) poke(s env.State, seed uint64) error {
	if err := w.legalIn(s, 0); err != nil {
		return err
	}
	Frame(s)
	s.Draws(nil)
	for seat := range w.seats {
		look(w.g, s, seat)
		s.Score(seat)
		s.Result(seat)
		ahead := w.clone(s)
		ahead.Hide(1<<seat, seed)
		for depth := 0; depth < 3 && ahead.Acting().Has(seat); depth++ {
			if err := legalOf(w.g, ahead, seat, true); err != nil {
				return fmt.Errorf("seat %d, %d choices alone: %w", seat, depth, err)
			}
			legal := ahead.Legal(seat, nil)
			env.After(ahead, seat, legal[w.rng.IntN(len(legal))])
		}
		look(w.g, ahead, seat)
	}
	return nil
}

// noAllocation checks that observing, stepping and copying do not allocate.
func noAllocation(g *env.Game, seats int, seed uint64) error {
	w := newWalker(g, seats, seed)
	s, other := g.New(seats), g.New(seats)
	w.legal = make([]env.Action, 0, g.MaxLegal)
	planes, globals := make([]uint8, g.Planes.Len()), make([]float32, g.Globals())
	draws, mask := make([]uint16, 0, env.MaxDraws), make([]byte, (g.MaskLen()+7)&^7)
	masker, masks := s.(env.Masker)
	n := testing.AllocsPerRun(5, func() {
		s.Reset(seed)
		for s.Acting() != 0 {
			m := w.moves(s)
			for set := s.Acting(); set != 0; set = set.Rest() {
				seat := set.First()
				s.Observe(seat, planes, globals)
				if masks {
					masker.MaskLegal(seat, mask)
				}
				other.CopyFrom(s)
				other.Hide(1<<seat, seed)
				if m[seat] != env.None {
					env.After(other, seat, m[seat])
				}
			}
			s.Step(m)
			draws = s.Draws(draws[:0])
		}
	})
	if n != 0 {
		return fmt.Errorf("a random game allocates %v times", n)
	}
	return nil
}

// fuzz passes bytes to Decode and plays on from the positions that it accepts.
func fuzz(f *testing.F, g *env.Game) {
	seats := g.MinSeats
	w := newWalker(g, seats, 1)
	err := w.each(1, func(s env.State, ply int) error {
		if ply%8 != 0 {
			return nil
		}
		data, err := env.Encode(nil, s)
		f.Add(data, uint64(ply))
		return err
	})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte, seed uint64) {
		if err := exercise(g, seats, data, seed); err != nil {
			t.Fatal(err)
		}
	})
}
