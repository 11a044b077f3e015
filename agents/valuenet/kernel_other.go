//go:build !amd64 || noasm

package valuenet

const hasVector = false

func setVector(bool) {}
