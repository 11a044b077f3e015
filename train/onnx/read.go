package onnx

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"strconv"

	"blockyard/agents/mlp"
)

// Read reads a model. Facts are those of its metadata: Game is "" if it has none, as a model of another program.
func Read(file []byte) (*mlp.Net, mlp.Facts, error) {
	all, err := fields(file)
	if err != nil {
		return nil, mlp.Facts{}, err
	}
	var graph []byte
	meta := map[string]string{}
	for _, f := range all {
		switch f.number {
		case modelGraph:
			graph = f.bytes
		case modelMetadata:
			entry, err := fields(f.bytes)
			if err != nil {
				return nil, mlp.Facts{}, err
			}
			var text [3]string
			for _, e := range entry {
				if e.number == entryKey || e.number == entryValue {
					text[e.number] = string(e.bytes)
				}
			}
			meta[text[entryKey]] = text[entryValue]
		}
	}
	if graph == nil {
		return nil, mlp.Facts{}, errDamaged
	}
	f, err := facts(meta)
	if err != nil {
		return nil, mlp.Facts{}, err
	}
	n, err := network(graph)
	if err == nil && f.Game != "" && len(f.Features) != n.In() {
		err = fmt.Errorf("onnx: %d feature names for %d inputs", len(f.Features), n.In())
	}
	if err != nil {
		return nil, mlp.Facts{}, err
	}
	return n, f, nil
}

func facts(meta map[string]string) (f mlp.Facts, err error) {
	if meta["game"] == "" {
		return f, nil
	}
	f = mlp.Facts{Game: meta["game"], Notes: maps.Clone(meta)}
	for _, key := range []string{"game", "rules", "features", "activation"} {
		delete(f.Notes, key)
	}
	if f.Rules, err = strconv.Atoi(meta["rules"]); err != nil {
		return f, fmt.Errorf("onnx: the metadata has rules version %q, want a number", meta["rules"])
	}
	if err = json.Unmarshal([]byte(meta["features"]), &f.Features); err != nil {
		return f, fmt.Errorf("onnx: the metadata has features that are not a JSON list of names: %w", err)
	}
	return f, nil
}

// network makes a net of a graph: Gemm, LeakyRelu, Gemm and so on, each working on the output of the one before.
func network(graph []byte) (*mlp.Net, error) {
	all, err := fields(graph)
	if err != nil {
		return nil, err
	}
	tensors := map[string]mlp.Tensor{}
	var nodes []operation
	for _, f := range all {
		switch f.number {
		case graphNode:
			o, err := parseNode(f.bytes)
			if err != nil {
				return nil, err
			}
			nodes = append(nodes, o)
		case graphInitializer:
			t, err := parseTensor(f.bytes)
			if err != nil {
				return nil, err
			}
			tensors[t.Name] = t
		}
	}
	var layers []mlp.Layer
	for i, o := range nodes {
		want := []string{"Gemm", "LeakyRelu"}[i%2]
		switch {
		case o.name != want:
			return nil, fmt.Errorf("onnx: operation %d is %.40q, want %s: a net is Gemm (torch.nn.Linear) with LeakyRelu "+
				"(torch.nn.LeakyReLU(0.01)) between them", i, o.name, want)
		case len(o.inputs) == 0 || len(o.outputs) != 1 || i > 0 && o.inputs[0] != nodes[i-1].outputs[0]:
			return nil, fmt.Errorf("onnx: operation %d does not work on the result of the one before", i)
		case want == "Gemm":
			l, err := dense(i, &o, tensors)
			if err != nil {
				return nil, err
			}
			layers = append(layers, l)
		case math.Abs(o.number("alpha", 0.01)-slope) > 1e-6:
			return nil, fmt.Errorf("onnx: operation %d is LeakyRelu with alpha %v, want %v", i, o.number("alpha", 0.01), slope)
		}
	}
	if len(nodes)%2 == 0 {
		return nil, errors.New("onnx: want Gemm, torch.nn.Linear, as the last operation")
	}
	n, err := mlp.New(layers)
	if err != nil {
		return nil, fmt.Errorf("onnx: %w", err)
	}
	return n, nil
}

// dense is the layer that a Gemm computes.
func dense(i int, o *operation, tensors map[string]mlp.Tensor) (l mlp.Layer, err error) {
	for name, want := range map[string]float64{"transB": 1, "transA": 0, "alpha": 1, "beta": 1} {
		byDefault := want
		if name == "transB" {
			byDefault = 0
		}
		if x := o.number(name, byDefault); x != want {
			return l, fmt.Errorf("onnx: operation %d is Gemm with %s=%v, want %v", i, name, x, want)
		}
	}
	if len(o.inputs) != 3 {
		return l, fmt.Errorf("onnx: operation %d is Gemm with %d inputs, want 3: a layer has a bias", i, len(o.inputs))
	}
	w, b := tensors[o.inputs[1]], tensors[o.inputs[2]]
	if len(w.Shape) != 2 || len(b.Shape) != 1 || w.Shape[0] != b.Shape[0] {
		return l, fmt.Errorf("onnx: operation %d has weights of shape %v and biases of shape %v, want [out in] and [out]",
			i, w.Shape, b.Shape)
	}
	return mlp.Layer{In: w.Shape[1], Out: w.Shape[0], W: w.Data, B: b.Data}, nil
}
