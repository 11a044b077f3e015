// Package onnx writes networks of package mlp as ONNX models and reads them back, so that other programs can run
// and train them.
//
// A model has one input, "features" of float32 [rows, inputs], and one output, "values" of float32 [rows, outputs]. Its
// nodes are Gemm (transB=1) with LeakyRelu (alpha=0.01) between them, of operator set 13 and format 8, which every
// runtime since 2021 runs. The initializers have the names of the tensors in safetensors files: fc0.weight [out, in],
// fc0.bias [out] and so on. The metadata has the same keys too: game, rules, features, activation.
//
// Read takes models of other programs too, with any names, if they have the same operations and keep their weights in
// the file. It refuses everything else: a network with other operations would not be the same as a net.
package onnx

// Numbers of fields of the messages in onnx.proto.
const (
	modelFormat, modelProducer, modelGraph, modelOpset, modelMetadata = 1, 2, 7, 8, 14

	opsetDomain, opsetVersion = 1, 2
	entryKey, entryValue      = 1, 2

	graphNode, graphName, graphInitializer, graphInput, graphOutput = 1, 2, 5, 11, 12

	nodeInput, nodeOutput, nodeName, nodeOperation, nodeAttribute = 1, 2, 3, 4, 5

	attributeName, attributeFloat, attributeInt, attributeType = 1, 2, 3, 20

	tensorDims, tensorType, tensorFloats, tensorName, tensorRaw = 1, 2, 4, 8, 9
	tensorLocation                                              = 14

	valueName, valueType                        = 1, 2
	typeTensor, tensorElement, tensorShape      = 1, 1, 2
	shapeDim, dimValue, dimName                 = 1, 1, 2
	float, attributeIsFloat, attributeIsInteger = 1, 1, 2
)

const (
	format = 8  // of the file: ir_version
	opset  = 13 // of the operations
	slope  = 0.01
)
