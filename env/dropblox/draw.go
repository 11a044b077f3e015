package dropblox

import (
	"fmt"
	"math"
	"strings"
	"sync/atomic"
)

// Draw returns the type that two uniform numbers select at a score (rules §11.2).
func Draw(p, u float64, score int) int { return int(u * float64(limits[levelAt(p, score)])) }

// Level bounds (rules §11.2).
const ratioLow, ratioHigh, ratioStep, levelStep = 0.1, 0.9, 480, 60

// sigma is a curve of the rules from 0 to 1. Every product and sum is rounded separately, so that all machines agree.
func sigma(x float64) float64 { return (x/math.Sqrt(float64(x*x)+1) + 1) / 2 }

// ratio returns the r of the rules at a score.
func ratio(score int) float64 {
	return float64((ratioHigh-ratioLow)*sigma(float64(2*(score-ratioStep))/ratioStep)) + ratioLow
}

func levelAt(p float64, score int) int {
	if p > firstLevel(score) {
		return 0
	}
	r, power := ratio(score), 1.0
	for k := 1; k <= 5; k++ {
		power *= r
		if p > power*sigma(float64(2*(score-levelStep*k))/levelStep) {
			return k - 1
		}
	}
	return 5
}

// Chances returns the probability of each level at a score. Level k draws from all blocks of up to k+5 squares.
func Chances(score int) (out [6]float64) {
	r, power, above := ratio(score), 1.0, 1.0
	for k := 1; k <= 5; k++ {
		power *= r
		// A level is reached only if all lower levels are passed.
		next := math.Min(above, power*sigma(float64(2*(score-levelStep*k))/levelStep))
		out[k-1], above = above-next, next
	}
	out[5] = above
	return out
}

// MeanSize returns the mean number of squares of a block drawn at a score.
func MeanSize(score int) float64 {
	mean := 0.0
	for k, p := range Chances(score) {
		mean += p * levelMean[k]
	}
	return mean
}

// levelMean holds the mean size of the blocks of each level.
var levelMean = func() (out [6]float64) {
	sum, t := 0, 0
	for k, limit := range limits {
		for ; t < limit; t++ {
			sum += SizeOf(t)
		}
		out[k] = float64(sum) / float64(limit)
	}
	return out
}()

const words, middle = 624, 397

// A Twister is the contest's random generator (rules §11.1), MT19937, held by value.
type Twister struct {
	Word [words]uint32
	At   uint32 // number of elements of Word that are used up
}

// fresh is the state from which seeding starts.
var fresh = func() (w [words]uint32) {
	w[0] = 19650218
	for k := uint32(1); k < words; k++ {
		w[k] = 1812433253*(w[k-1]^w[k-1]>>30) + k
	}
	return w
}()

// Seed starts the generator from a key: the words of a number, the lowest first. There is at least one.
func (t *Twister) Seed(key []uint32) {
	t.Word, t.At = fresh, words
	w := &t.Word
	steps := max(words, len(key))
	i, j, last := 1, 0, w[0] // last is w[i-1]: to read it again would take longer than all else
	for ; steps > 0; steps-- {
		last = (w[i] ^ (last^last>>30)*1664525) + (key[j] + uint32(j))
		w[i] = last
		if i++; i == words {
			w[0], i = last, 1
		}
		if j++; j == len(key) {
			j = 0
		}
	}
	for steps = words - 1; steps > 0; steps-- {
		last = (w[i] ^ (last^last>>30)*1566083941) - uint32(i)
		w[i] = last
		if i++; i == words {
			w[0], i = last, 1
		}
	}
	w[0] = 1 << 31
}

// Uniform returns the next number in [0, 1), of 53 bits.
func (t *Twister) Uniform() float64 {
	a, b := t.next()>>5, t.next()>>6
	return (float64(float64(a)*(1<<26)) + float64(b)) / (1 << 53)
}

func (t *Twister) next() uint32 {
	if t.At >= words {
		t.turn()
	}
	y := t.Word[t.At]
	t.At++
	y ^= y >> 11
	y ^= y << 7 & 0x9d2c5680
	y ^= y << 15 & 0xefc60000
	return y ^ y>>18
}

// turn computes the next 624 words.
func (t *Twister) turn() {
	w := &t.Word
	last := w[0]
	for k, far := range w[middle:] {
		next := w[k+1]
		w[k], last = twist(last, next, far), next
	}
	for k, far := range w[:middle-1] {
		next := w[words-middle+k+1]
		w[words-middle+k], last = twist(last, next, far), next
	}
	w[words-1] = twist(last, w[0], w[middle-1])
	t.At = 0
}

// twist returns the word that follows from the one in its place, the next one and one that is far.
func twist(w, next, far uint32) uint32 {
	y := w&(1<<31) | next&(1<<31-1)
	return far ^ y>>1 ^ -(y&1)&0x9908b0df
}

// maxDigits is the largest number of digits of a seed.
const maxDigits = 4000

// Key returns the words, the lowest first, of the absolute value of a seed: a decimal integer of any
// size with or without a sign. A seed and its negative give the same game.
func Key(seed string) ([]uint32, error) {
	digits := strings.TrimSpace(seed)
	if digits != "" && (digits[0] == '-' || digits[0] == '+') {
		digits = digits[1:]
	}
	if digits == "" || len(digits) > maxDigits {
		return nil, fmt.Errorf("dropblox: seed %.20q: want a decimal integer of at most %d digits", seed, maxDigits)
	}
	key := []uint32{0}
	for _, d := range []byte(digits) {
		if d < '0' || d > '9' {
			return nil, fmt.Errorf("dropblox: seed %.20q: want a decimal integer", seed)
		}
		carry := uint64(d - '0')
		for k, w := range key {
			carry += uint64(w) * 10
			key[k] = uint32(carry)
			carry >>= 32
		}
		if carry > 0 {
			key = append(key, uint32(carry))
		}
	}
	return key, nil
}

// These keep, for scores, what takes many divisions and square roots to compute.
var (
	meanSizes   memo
	firstLevels memo
)

// A memo keeps the values of a function of a score: as bits, 0 if not yet computed.
type memo [1024]uint64

func (m *memo) of(score int, compute func(score int) float64) float64 {
	if uint(score) >= uint(len(m)) {
		return compute(score)
	}
	v := atomic.LoadUint64(&m[score])
	if v == 0 {
		v = math.Float64bits(compute(score))
		atomic.StoreUint64(&m[score], v)
	}
	return math.Float64frombits(v)
}

// meanSize is MeanSize as a float32.
func meanSize(score int) float32 { return float32(meanSizes.of(score, MeanSize)) }

// firstLevel is the number that the first of a draw's two numbers must exceed for level 0.
func firstLevel(score int) float64 {
	return firstLevels.of(score, func(score int) float64 {
		return float64(ratio(score) * sigma(float64(2*(score-levelStep))/levelStep))
	})
}
