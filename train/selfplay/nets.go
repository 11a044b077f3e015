package selfplay

import "blockyard/agents/mlp"

// RunningMean moves the mean of n-1 nets on to the n-th; of the last nets, if n is above over.
func RunningMean(before, now *mlp.Net, n, over int) (*mlp.Net, error) {
	if n = min(n, over); n == 1 {
		return now, nil
	}
	return Blend(before, now, 1/float32(n))
}

// Blend returns a net of which every weight lies a share of the way from before to now.
func Blend(before, now *mlp.Net, share float32) (*mlp.Net, error) {
	var layers []mlp.Layer
	for i, l := range now.Layers() {
		b := before.Layers()[i]
		layers = append(layers, mlp.Layer{In: l.In, Out: l.Out, W: between(b.W, l.W, share), B: between(b.B, l.B, share)})
	}
	return mlp.New(layers)
}

func between(a, b []float32, share float32) []float32 {
	out := make([]float32, len(a))
	for i := range a {
		out[i] = a[i] + share*(b[i]-a[i])
	}
	return out
}
