package dropblox

import (
	"math"
	"sync/atomic"
)

// These keep, for scores, what takes many divisions and square roots to compute: as bits, 0 if not yet computed.
var (
	meanSizes   [1024]uint32
	firstLevels [1024]uint64
)

// meanSize is MeanSize as a float32.
func meanSize(score int) float32 {
	if uint(score) >= uint(len(meanSizes)) {
		return float32(MeanSize(score))
	}
	m := &meanSizes[score]
	if v := atomic.LoadUint32(m); v != 0 {
		return math.Float32frombits(v)
	}
	v := float32(MeanSize(score))
	atomic.StoreUint32(m, math.Float32bits(v))
	return v
}

// firstLevel is the number that the first of a draw's two numbers must exceed for level 0.
func firstLevel(score int) float64 {
	if uint(score) >= uint(len(firstLevels)) {
		return float64(ratio(score) * sigma(float64(2*(score-levelStep))/levelStep))
	}
	m := &firstLevels[score]
	if v := atomic.LoadUint64(m); v != 0 {
		return math.Float64frombits(v)
	}
	v := float64(ratio(score) * sigma(float64(2*(score-levelStep))/levelStep))
	atomic.StoreUint64(m, math.Float64bits(v))
	return v
}
