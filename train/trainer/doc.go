// Package trainer trains a value net with gorgonia and hands it over as a mlp.Net. It
// is the only package that imports gorgonia: the graph is built once, run batch by
// batch, and never asked for a value in play.
//
//	graph.go   the graph: layers, loss, gradients
//	net.go     Trainer: one batch at a time, weights out, state in and out
//	adam.go    the optimiser, whose state can be saved
//	blas.go    matrix products for gorgonia: AVX2 where the machine has it
package trainer
