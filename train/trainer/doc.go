// Package trainer trains a net with gorgonia and returns it as a mlp.Net. It is the only
// package that imports gorgonia. The graph is built once and run batch by batch; games are
// played by mlp.Net, which is much faster.
//
//	graph.go   the graph: layers, loss, gradients
//	net.go     Trainer: one batch at a time, weights out, state in and out
//	adam.go    the optimiser, whose state can be saved
//	blas.go    matrix products for gorgonia: AVX2 where the machine has it
package trainer
