// Package rules has what a bundle must rename, keep and drop.
package rules

import (
	"fmt"
	"math/bits"
)

// Kind counts from zero, with gaps nobody mentions.
type Kind uint8

const (
	None Kind = iota
	unused
	Two // the third
	Three
	alsoUnused
)

const Size, Depth = 10, 1 << 4

// A Shower shows.
type Shower interface{ Show() string }

// Options have a field that nobody mentions, of a type that nothing else needs.
type Options struct {
	Kept          int
	Unset         *Unneeded
	First, Second int
}

// Unneeded is in no one's way.
type Unneeded struct{}

// A Pair is written without the names of its fields.
type Pair struct{ First, Rest int }

// A Bumper is every Shower of this program.
type Bumper interface{ Bump() int }

// Base is embedded elsewhere.
type Base struct{ Word uint64 }

func (b *Base) Bump() int { b.Word++; return bits.OnesCount64(b.Word) }

func (b *Base) Dropped() {}

func (k Kind) String() string { return [...]string{"none", "?", "two", "three"}[k] }

func (k Kind) Forgotten() int { return int(k) }

// State embeds Base.
type State struct {
	Base
	Kind  Kind
	Cells [Size]int
}

func (s *State) Show() string { return fmt.Sprint(s.Kind, s.Word, s.Cells) }

// max is ours: its name must not hide the builtin elsewhere.
func max(a, b int) int {
	if a > b {
		return a * 100
	}
	return b * 100
}

func Most(a, b int) int { return max(a, b) }

var table = fill()

func fill() (t [4]int) {
	for i := range t {
		t[i] = i * i
	}
	return t
}

func Square(i int) int { return table[i] }

var neverUsed = unneeded()

func unneeded() int { return len(table) }

var squares, spareHalf = halves()

func halves() (squares, rest [4]int) {
	for i := range squares {
		squares[i] = Square(i)
	}
	return squares, rest
}

func Squares() [4]int { return squares }
