package server

import (
	"errors"

	"blockyard/env/vec"
	"blockyard/rpc/wire"
)

// badParams is the error for a request whose params are wrong.
func badParams(format string, args ...any) *wire.Error {
	return wire.Errorf(wire.BadParams, format, args...)
}

// refusal converts an error of a method for the client. Those of vec that blame no action are failures of agents.
func refusal(method []byte, err error) *wire.Error {
	var known *wire.Error
	if errors.As(err, &known) {
		return known
	}
	var blamed *vec.EnvError
	if !errors.As(err, &blamed) {
		return wire.Errorf(wire.Opponent, "%s: %v", method, err)
	}
	envs := blamed.Envs[:min(len(blamed.Envs), mostNamed)]
	switch {
	case errors.Is(err, vec.ErrNeedsReset):
		return wire.Errorf(wire.NeedsReset, "%s: %v", method, err).With("envs", envs)
	case errors.Is(err, vec.ErrAsked):
		return wire.Errorf(wire.NeedsAnswer, "%s: %v", method, err).With("envs", envs)
	}
	return wire.Errorf(wire.Illegal, "%s: %v", method, err).With("envs", envs).
		With("row", blamed.Row).With("seat", blamed.Seat).With("action", int(blamed.Action))
}

// refused is refusal under another name of the method, except that it leaves a panic as it is, for the log.
func refused(method string, err error) error {
	if errors.As(err, new(*vec.PanicError)) {
		return err
	}
	return refusal([]byte(method), err)
}

// mostNamed is the largest number of games that an error lists.
const mostNamed = 64

// misused is refused, and for an error of vec that blames the request an error of its params.
func misused(method string, err error) error {
	if errors.Is(err, vec.ErrMisuse) {
		return badParams("%s: %v", method, err)
	}
	return refused(method, err)
}
