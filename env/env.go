package env

import (
	"context"
	"fmt"
	"math"
	"math/bits"
	"sync/atomic"
)

// MaxSeats is the largest number of seats that a game can have.
const MaxSeats = 4

// An Action is one choice from a game's fixed space, 0 ≤ a < Game.Actions. An id means the
// same choice in every position, as long as Game.Rules stays the same. Two choices that the
// rules can tell apart have two ids; two that they cannot tell apart share one.
type Action uint16

// None means that a seat makes no choice: if it had to, that is a missing, late or illegal answer.
const None Action = 0xFFFF

// Moves is a joint move: one Action per seat, in one machine word.
type Moves [MaxSeats]Action

// NoMoves is the joint move in which no seat makes a choice.
var NoMoves = Moves{None, None, None, None}

// Alone returns the joint move in which seat plays a and no other seat makes a choice.
func Alone(seat int, a Action) Moves {
	m := NoMoves
	m[seat] = a
	return m
}

// Seats is a set of seats. To visit its members without allocating:
//
//	for set := s.Acting(); set != 0; set = set.Rest() { seat := set.First(); … }
type Seats uint8

// First returns the lowest seat of a set that is not empty.
func (s Seats) First() int { return bits.TrailingZeros8(uint8(s)) }

// Rest returns the set without its lowest seat.
func (s Seats) Rest() Seats { return s & (s - 1) }

// Has reports whether a seat is in the set.
func (s Seats) Has(seat int) bool { return s>>uint(seat)&1 != 0 }

// Len returns the number of seats in the set, 0 to 8.
func (s Seats) Len() int { return bits.OnesCount8(uint8(s)) }

// Shape is the size of a stack of planes: C planes of H rows and W columns.
type Shape struct{ C, H, W int }

// Len returns the number of cells, which is the number of bytes that the planes take.
func (s Shape) Len() int { return s.C * s.H * s.W }

// CellBytes maps eight cells as bits to eight cells as bytes, the lowest bit first.
var CellBytes = func() (out [256]uint64) {
	for cells := range out {
		for x := 0; x < 8; x++ {
			out[cells] |= uint64(cells>>uint(x)&1) << uint(8*x)
		}
	}
	return out
}()

// A Game is the rules of one contest with one set of options: plain facts, and how to create
// a position. A variant of a game is a Game of its own, named "<game>:<variant>".
type Game struct {
	Name  string // "blockbattle", "blockbattle:classic": in agent specs, in records, on the wire
	ID    string // the Gymnasium id without its namespace: "BlockBattle-v0"
	Title string // for people: "Block Battle", also of its variants; "" for the name
	Rules int    // version; raised whenever an old record would replay differently

	MinSeats, MaxSeats int
	Rows               int      // largest number of seats that act at once, each a row of a batch
	Actions            int      // size of the action space
	MaxLegal           int      // largest number of actions that Legal returns
	Planes             Shape    // of the observation's planes, one byte per cell
	PlaneMax           uint8    // largest value of a cell in a plane
	PlaneNames         []string // one per plane
	GlobalNames        []string // one per global
	GlobalRanges       []Range  // range of each global, including 0 for empty rows; nil if unknown
	Potential          []Term   // of shaped rewards, see vec.RewardShaped; nil if the game has none
	Table              []string // the definition that the variant's name is a hash of, in lines; nil in most games

	New   func(seats int) State          // a new position after Reset(0); MinSeats ≤ seats ≤ MaxSeats
	Text  func(a Action) string          // an action for people: "r2 x4 y17 spin"
	Parse func(s string) (Action, error) // the inverse of Text
}

// A Term is a global and its weight in a sum of globals.
type Term struct {
	Global string
	Weight float64
}

// Parser returns the inverse of text, for the actions below n. bad is the format of its error about a text.
func Parser(n Action, text func(a Action) string, bad string) func(s string) (Action, error) {
	var known atomic.Value // a map[string]Action, made when the first text is read
	return func(s string) (Action, error) {
		ids, ok := known.Load().(map[string]Action)
		if !ok {
			ids = map[string]Action{}
			for a := Action(0); a < n; a++ {
				ids[text(a)] = a
			}
			known.Store(ids) // the same, whoever else makes it
		}
		if a, ok := ids[s]; ok {
			return a, nil
		}
		return None, fmt.Errorf(bad, s)
	}
}

// Globals returns the number of globals in an observation.
func (g *Game) Globals() int { return len(g.GlobalNames) }

// MaskLen returns the length in bytes of a packed action mask: bit a&7 of byte a>>3.
func (g *Game) MaskLen() int { return (g.Actions + 7) / 8 }

// CellBits returns how many bits a cell takes in packed planes: 1, 2, 4 or 8.
func (g *Game) CellBits() int {
	switch {
	case g.PlaneMax < 2:
		return 1
	case g.PlaneMax < 4:
		return 2
	case g.PlaneMax < 16:
		return 4
	}
	return 8
}

// PackedLen returns the length in bytes of packed planes, CellBits bits per cell.
func (g *Game) PackedLen() int { return (g.Planes.Len()*g.CellBits() + 7) / 8 }

// Start resets s, a new State of a game for low to high seats, and returns it: what Game.New does.
// It panics on any other number of seats.
func Start(s State, seats, low, high int) State {
	if seats < low || seats > high {
		panic(fmt.Sprintf("%T: %d seats, want %d to %d", s, seats, low, high))
	}
	s.Reset(0)
	return s
}

// A State is a position. It is a pointer to a struct of exported fields of fixed size, without pointers, slices,
// maps, strings or platform-sized integers. A copy is therefore one assignment, equality is ==, and Encode works for
// every game. A State is not safe for concurrent use. Package env/envtest checks every promise made here.
//
// A State may also implement Afterstater, Hasher, Masker, Marker and Answerer.
type State interface {
	// Reset starts a new game. Everything random in it follows from seed.
	Reset(seed uint64)
	// Force replaces the coming random draws by these, at most MaxDraws of them, and returns
	// how many it took. An embedded Rand implements Force and Draws.
	Force(draws []uint16) int
	// Draws appends what the last Reset or Step drew, forced or not, in order.
	Draws(dst []uint16) []uint16
	// Hide redraws from seed everything that none of the seats in viewers may know, such as
	// the pieces to come. What these seats observe does not change.
	Hide(viewers Seats, seed uint64)
	// CopyFrom makes the receiver equal to src, a State of the same type.
	CopyFrom(src State)
	// Check returns an error that names the first field whose value is impossible. A State that passes
	// can be stepped, observed and shown safely, even if its bytes came from an untrusted source.
	Check() error

	// SeatCount returns the number of seats in this game.
	SeatCount() int
	// Acting returns the seats that must choose now. It is empty when the game is over.
	Acting() Seats
	// Legal appends seat's legal actions to dst in ascending order: at least one if seat is acting, none otherwise.
	Legal(seat int, dst []Action) []Action
	// Step plays one choice per acting seat, each legal or None. It does not check them; see Apply.
	Step(m Moves)

	// Score returns seat's points so far, as the contest counts them.
	Score(seat int) int
	// Result returns -1 (seat lost) to 1 (seat won), and 0 until the game is over.
	Result(seat int) float32

	// Observe writes what seat sees, with the seat itself first. The slices have exactly the
	// lengths that Game states; every element is written.
	Observe(seat int, planes []uint8, globals []float32)
	// Show draws the whole position for people.
	Show(f *Frame)
}

// An Afterstater is a State in which several seats act at once, so that an afterstate is not a position of the game.
type Afterstater interface {
	// After turns the position into seat's afterstate: seat plays the legal action a and the other seats do nothing. The
	// position is then seat's next decision, so a search can call Legal(seat) and After again. The draws can be forced.
	// An afterstate is only for evaluation: Step must not be called on it.
	After(seat int, a Action)
}

// After turns s into seat's afterstate: the position after seat's legal action a, before any other seat
// chooses. In a game of turns or of one seat this is Step; see Afterstater for the others.
func After(s State, seat int, a Action) {
	switch s := s.(type) {
	case Afterstater:
		s.After(seat, a)
	default:
		s.Step(Alone(seat, a))
	}
}

// A Hasher is a State with a hash of everything that its future depends on, for searches that recognize
// positions. The draws are not part of it, nor need be what comes more than 16 steps later.
type Hasher interface {
	// Hash returns the same number for equal positions on every machine, and almost surely different ones for others.
	Hash() uint64
}

// A Masker is a State that can write its legal actions as bits, faster than listing and packing them.
type Masker interface {
	// MaskLegal sets, for each legal action a of seat, bit a&7 of byte a>>3 of mask. The seat is acting. The caller
	// passes an empty mask whose length is that of Game.MaskLen rounded up to a multiple of 8.
	MaskLegal(seat int, mask []byte)
}

// A Tabled is a State of a game whose variants have a Game.Table.
type Tabled interface {
	// SameTable reports whether two positions of the game are of the same variant.
	SameTable(as State) bool
}

// A Range is an interval of numbers that includes both ends.
type Range struct{ Low, High float32 }

// Inf is the High of a Range without an upper bound.
var Inf = float32(math.Inf(1))

// Ranges that many globals share.
var (
	Flag  = Range{0, 1}   // one-hot encodings, and yes or no
	Count = Range{0, Inf} // counts without an upper bound
)

// Globals collects the names and ranges of a Game's globals.
type Globals struct {
	Names  []string
	Ranges []Range
}

// Add appends globals that have the same range.
func (g *Globals) Add(r Range, names ...string) {
	for _, name := range names {
		g.Names, g.Ranges = append(g.Names, name), append(g.Ranges, r)
	}
}

// An Agent chooses actions. It belongs to one game in progress and is not safe for concurrent use.
type Agent interface {
	// Act returns a legal action for seat, which is acting. s is a copy in which everything hidden from the seat has
	// been redrawn (see View). The agent may play on it during the call but must not keep it. ctx carries the time
	// limit: an agent that runs out of time returns the best action it has found so far.
	Act(ctx context.Context, s State, seat int) (Action, error)
}

// View makes dst a copy of s in which everything hidden from seat is redrawn from seed. Every
// position that an agent receives goes through View.
func View(dst, s State, seat int, seed uint64) {
	dst.CopyFrom(s)
	dst.Hide(1<<uint(seat), seed)
}
