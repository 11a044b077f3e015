package env

import "math/bits"

// MaxDraws is the most draws that one Reset or Step makes, and that can be forced.
const MaxDraws = 80

// A Rand is a random generator held by value. Its coming draws can be forced and its last
// ones read back. A State embeds one: Reset starts with Restart, Step starts with Begin, both
// finish with End and take every random outcome in between from Draw.
type Rand struct {
	Word   uint64           // state of the generator (splitmix64)
	Queue  [MaxDraws]uint16 // draws of this step: the made ones first, then forced ones to come
	Forced uint8            // length of Queue up to the last forced draw, 0 if none is forced
	Used   uint8            // number of draws that this step has made
}

// Seed restarts the generator. It changes neither forced draws nor draws already made.
func (r *Rand) Seed(seed uint64) { r.Word = seed }

// Restart begins a Reset: the generator starts from seed, and forced draws stay forced.
func (r *Rand) Restart(seed uint64) { r.Word, r.Used = seed, 0 }

// Force implements State: it keeps a copy of the draws until the next step has used or dropped them.
func (r *Rand) Force(draws []uint16) int {
	n := copy(r.Queue[:], draws)
	r.Forced = uint8(n)
	return n
}

// Draws implements State: it appends the draws since Restart or Begin.
func (r *Rand) Draws(dst []uint16) []uint16 { return append(dst, r.Queue[:r.Used]...) }

// Begin starts a step: it forgets the draws of the step before.
func (r *Rand) Begin() { r.Used = 0 }

// End finishes a step: it drops forced draws that the step did not need.
func (r *Rand) End() { r.Forced = 0 }

// Draw returns the next draw, below n (1 ≤ n ≤ 65536): the forced one if there is one,
// otherwise a uniform one. A forced draw that is too large is taken modulo n.
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

// below returns a uniform number below n, by Lemire's multiply-and-reject method.
func (r *Rand) below(n uint32) uint32 {
	for {
		p := uint64(uint32(r.Next()>>32)) * uint64(n)
		if low := uint32(p); low >= n || low >= -n%n {
			return uint32(p >> 32)
		}
	}
}

// Next returns 64 random bits. They are not a draw: they are neither recorded nor forced.
func (r *Rand) Next() uint64 {
	r.Word += 0x9E3779B97F4A7C15
	return Mix(r.Word)
}

// Mix scatters 64 bits (the finisher of splitmix64): similar seeds give unrelated results.
func Mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

// Derive returns an independent seed for part i of something seeded, such as one game or seat of many.
func Derive(seed, i uint64) uint64 { return Mix(seed + bits.RotateLeft64(Mix(i+1), 17)) }
