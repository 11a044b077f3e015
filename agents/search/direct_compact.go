//go:build compact

package search

const direct = false
