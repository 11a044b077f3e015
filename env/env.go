package env

import "math/bits"

// MaxSeats is the most players any game seats.
const MaxSeats = 4

// An Action is one choice in a game's fixed space, 0 ≤ a < Game.Actions. An id means
// the same choice in every position for as long as Game.Rules stands: every difference
// the rules can see is in the id, and no difference they cannot see is.
type Action uint16

// None stands where a seat makes no choice. For a seat that had to choose it is the
// contest's answer to a missing, late or illegal move.
const None Action = 0xFFFF

// Moves is a joint move, one Action per seat: one machine word.
type Moves [MaxSeats]Action

// NoMoves is the joint move in which nobody chooses.
var NoMoves = Moves{None, None, None, None}

// Alone returns the joint move in which seat plays a and nobody else chooses.
func Alone(seat int, a Action) Moves {
	m := NoMoves
	m[seat] = a
	return m
}

// Seats is a set of seats. To visit them without allocating:
//
//	for set := s.Acting(); set != 0; set = set.Rest() { seat := set.First(); … }
type Seats uint8

// First returns the lowest seat of a set that is not empty.
func (s Seats) First() int { return bits.TrailingZeros8(uint8(s)) }

// Rest returns the set without its lowest seat.
func (s Seats) Rest() Seats { return s & (s - 1) }

// Has reports whether seat is in the set.
func (s Seats) Has(seat int) bool { return s>>uint(seat)&1 != 0 }

// Len returns how many seats the set holds.
func (s Seats) Len() int { return bits.OnesCount8(uint8(s)) }

// Shape is the size of a stack of planes.
type Shape struct{ C, H, W int }

// Len returns how many bytes planes of this shape take.
func (s Shape) Len() int { return s.C * s.H * s.W }

// A Game is one contest's rules under one set of options: plain facts and how to make a
// position. A variant of a game is a Game of its own, named "<game>:<variant>".
type Game struct {
	Name  string // "blockbattle", "blockbattle:classic": in specs, in records, on the wire
	ID    string // the Gymnasium id without its namespace: "BlockBattle-v0"
	Rules int    // raised whenever an old record would replay differently

	MinSeats, MaxSeats int
	Rows               int      // most seats that ever act at once
	Actions            int      // size of the action space
	MaxLegal           int      // length Legal never exceeds
	Planes             Shape    // of the spatial observation, a byte a cell
	PlaneMax           uint8    // greatest value a plane holds
	PlaneNames         []string // one per plane
	GlobalNames        []string // one per number of the rest of the observation
	GlobalRanges       []Range  // what each of these lies in, and 0, which stands where a row shows nobody; nil if it is not known

	New   func(seats int) State          // a position after Reset(0); MinSeats ≤ seats ≤ MaxSeats
	Text  func(a Action) string          // "r2 x4 y17 spin"
	Parse func(s string) (Action, error) // the inverse of Text
}

// Globals is the length of the rest of the observation.
func (g *Game) Globals() int { return len(g.GlobalNames) }

// MaskLen is how many bytes a packed action mask takes: bit a&7 of byte a>>3.
func (g *Game) MaskLen() int { return (g.Actions + 7) / 8 }

// A State is a position: a pointer to a struct of exported fields of fixed size, without
// pointers, slices, maps, strings or platform-sized integers, so that a copy is one
// assignment, equality is == and Encode needs to know nothing. It is not safe for
// concurrent use. Package envtest checks every promise made here.
type State interface {
	// Reset starts a new game. All that is random in it follows from seed.
	Reset(seed uint64)
	// Force makes the coming random draws be these, as many as its queue holds, and
	// returns how many it took. Draws and Force come with an embedded Rand.
	Force(draws []uint16) int
	// Draws appends what the last Reset or Step drew, forced or not, in order.
	Draws(dst []uint16) []uint16
	// Hide redraws from seed what seat may not know, such as pieces to come. What seat
	// observes does not change.
	Hide(seat int, seed uint64)
	// CopyFrom makes the receiver equal to src, a State of the same type.
	CopyFrom(src State)
	// Check reports the first broken invariant: a State that passes it can be stepped,
	// observed and shown without harm, wherever its bytes came from.
	Check() error

	// Acting returns the seats that must choose now; none when the game is over.
	Acting() Seats
	// Legal appends seat's legal actions to dst in ascending order: at least one if seat
	// is acting, none otherwise.
	Legal(seat int, dst []Action) []Action
	// Step plays one choice per acting seat, each legal or None. It does not check; see
	// Apply.
	Step(m Moves)
	// After turns the position into seat's afterstate: seat alone plays a, legal, and
	// the others stand still. In a game where seats move at once or alone, the position
	// is then seat's next decision, so that Legal(seat) and After may follow for a
	// deeper look; what it draws can be forced. Where seats take turns it is Step. An
	// afterstate is for looking at: it must not be stepped on as a game.
	After(seat int, a Action)

	// Score returns seat's points so far, as the contest counts them.
	Score(seat int) int
	// Result returns seat's standing, -1 (lost) to 1 (won); 0 until the game is over.
	Result(seat int) float32

	// Observe writes what seat sees, itself first. The slices have exactly the lengths
	// Game states; every element is written.
	Observe(seat int, planes []uint8, globals []float32)
	// Show paints the whole position for people.
	Show(f *Frame)
}

// A Masker is a State that can write what is legal as bits, faster than a list can be made
// and packed.
type Masker interface {
	// MaskLegal sets in mask, bit a&7 of byte a>>3, what Legal lists for seat, which is
	// acting. mask is empty when it is called, and of whole words: a multiple of 8 bytes, as
	// many as hold Game.MaskLen.
	MaskLegal(seat int, mask []byte)
}
