//go:build !amd64 || noasm

package mlp

const hasVector = false

func setVector(bool) {}
