package mlp_test

import (
	"bytes"
	"fmt"

	"blockyard/agents/mlp"
)

// small is a network of three inputs, two hidden units and one output.
func small() *mlp.Net {
	net, err := mlp.New([]mlp.Layer{
		{In: 3, Out: 2, W: []float32{1, 0, 2, 0, 1, -1}, B: []float32{0, 1}},
		{In: 2, Out: 1, W: []float32{1, 1}, B: []float32{0.5}},
	})
	if err != nil {
		panic(err)
	}
	return net
}

// Two inputs are evaluated in one call.
func ExampleNet_Forward() {
	net := small()
	out := make([]float32, 2)
	net.Forward([]float32{1, 2, 3, 4, 5, 6}, 2, out)
	fmt.Println(out)
	// Output: [7.5 16.5]
}

// The third input is the same in both rows, so its products are computed once.
func ExampleNet_ForwardFrom() {
	net := small()
	acc, out := make([]float32, net.AccLen()), make([]float32, 2)
	net.Base([]float32{3}, 2, acc)
	net.ForwardFrom(acc, []float32{1, 2, 4, 5}, 2, 2, out)
	fmt.Println(out)
	// Output: [7.5 13.5]
}

// A file says what its network is for.
func ExampleParse() {
	facts := mlp.Facts{Game: "toy", Rules: 1, Features: []string{"own height", "own holes", "other height"}}
	var file bytes.Buffer
	if err := mlp.Write(&file, small(), facts); err != nil {
		fmt.Println(err)
		return
	}
	net, facts, err := mlp.Parse(file.Bytes())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(net.In(), "inputs")
	fmt.Println(facts.Check("toy", 2, facts.Features))
	// Output:
	// 3 inputs
	// weights are for rules version 1 of toy, not 2
}
