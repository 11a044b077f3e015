// Package mlp evaluates a small trained network: dense layers of float32, leaky ReLU (slope 0.01) between them, a
// linear output. It reads and writes networks as safetensors files, whose metadata (Facts) say what a network is for.
//
// # The same bits on every machine
//
// A contest bot must choose the same moves as the agent it was made from, so the values must not depend on the machine.
// Plain Go and AVX2 add the same products in the same order and round each product and each sum to float32. That
// excludes fused multiply-add, which would make the AVX2 kernel a third faster.
//
// # Shared inputs
//
// All afterstates of one decision share the inputs that the action does not change, such as the opponent's. The
// inputs that it does change come first, the shared ones after them. Base computes the part of the first layer
// that depends on shared inputs, once per decision; ForwardFrom adds the rest for each afterstate. If the inputs that
// change are whole numbers times a unit, a Fixed is faster: it computes a row from the row before.
package mlp
