//go:build !compact

package search

// direct is whether evaluators may value leaves directly. A one-file bot has no room for the code.
const direct = true
