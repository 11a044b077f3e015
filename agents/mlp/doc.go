// Package mlp is the forward pass of a small trained net: dense layers of float32,
// leaky ReLU (slope 0.01) between them, a linear output.
//
// # Files
//
//	forward.go       the net and its pass in plain Go; complete in itself and standard
//	                 library only, so that it can be copied whole into a contest bot
//	kernel_amd64.go  the same sums with AVX2, where the machine has it
//	safetensors.go   weights as bytes: reader and writer
//	file.go          weights as a file, checked against what a game expects
//
// # One answer everywhere
//
// A value decides a move, and a bot compiled from forward.go alone must choose the moves
// its twin in this program chooses. So every path adds the same products in the same
// order, each product and each sum rounded to float32, none fused: plain Go, AVX2 and any
// other machine give the same bits, and there is no mode to choose. That forgoes
// fused multiply-add and with it a third of the kernel's speed.
//
// # The constant part
//
// All candidates of one decision share the inputs that the choice does not touch (the
// opponent, the clock). Base adds them up once, ForwardFrom goes on from there for each
// candidate's own inputs, which come first in the input.
package mlp
