package env

import "math/bits"

// MaxDraws is how many draws one Reset or Step can make, and so how many can be forced.
const MaxDraws = 80

// A Rand is a random generator held by value, in which the coming draws can be forced and
// the last ones read back. A State embeds one; its Reset and Step begin with Begin, end
// with End, and take every random outcome from Draw in between.
type Rand struct {
	Word   uint64           // the generator (splitmix64): one add and one mix a draw
	Queue  [MaxDraws]uint16 // the draws of this step: forced ones first, then made ones
	Forced uint8            // how many of Queue are forced draws still to come
	Used   uint8            // how many of Queue this step has made
}

// Seed restarts the generator and forgets forced draws.
func (r *Rand) Seed(seed uint64) { *r = Rand{Word: seed} }

// Reseed restarts the generator alone.
func (r *Rand) Reseed(seed uint64) { r.Word = seed }

// Force implements State.
func (r *Rand) Force(draws []uint16) int {
	n := copy(r.Queue[:], draws)
	r.Forced = uint8(n)
	return n
}

// Draws implements State.
func (r *Rand) Draws(dst []uint16) []uint16 { return append(dst, r.Queue[:r.Used]...) }

// Begin opens a step: the draws of the step before are forgotten.
func (r *Rand) Begin() { r.Used = 0 }

// End closes a step: forced draws that nobody asked for are dropped.
func (r *Rand) End() { r.Forced = 0 }

// Draw returns the next draw, below n (1 ≤ n ≤ 65536): the forced one if there is one,
// else a uniform one. A forced draw out of range counts modulo n.
func (r *Rand) Draw(n uint32) uint16 {
	var v uint16
	if r.Used < r.Forced {
		if v = r.Queue[r.Used]; uint32(v) >= n {
			v = uint16(uint32(v) % n)
		}
	} else {
		v = uint16(r.below(n))
	}
	if r.Used < MaxDraws {
		r.Queue[r.Used] = v
		r.Used++
	}
	return v
}

// below returns a uniform number below n, by Lemire's multiply-and-reject.
func (r *Rand) below(n uint32) uint32 {
	for {
		p := uint64(uint32(r.Next()>>32)) * uint64(n)
		if low := uint32(p); low >= n || low >= -n%n {
			return uint32(p >> 32)
		}
	}
}

// Next returns 64 fresh random bits. They are not a draw: nothing records them.
func (r *Rand) Next() uint64 {
	r.Word += 0x9E3779B97F4A7C15
	return Mix(r.Word)
}

// Mix scatters 64 bits (splitmix64's finisher): neighbouring seeds give unrelated ones.
func Mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

// Derive makes a seed of its own for part i of something seeded with seed, such as one
// game of many or one seat of a game.
func Derive(seed, i uint64) uint64 { return Mix(seed + bits.RotateLeft64(Mix(i+1), 17)) }
