package features

// Yes returns 1 for true and 0 for false.
func Yes(b bool) float32 {
	if b {
		return 1
	}
	return 0
}

// Over returns how much n is above limit, or 0.
func Over(n, limit int) int {
	if n > limit {
		return n - limit
	}
	return 0
}

// OverSquared returns the square of Over.
func OverSquared(n, limit int) float32 {
	n = Over(n, limit)
	return float32(n * n)
}
