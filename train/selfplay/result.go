package selfplay

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"blockyard/agents/mlp"

	"github.com/klauspost/compress/zstd"
)

// A Result is what came of a task but for the notes, which are tensors beside it.
type Result struct {
	Iteration int
	Slot      int
	End       GameSlot // where the slot stands afterwards
	Ended     int
	Moves     int
	Visited   uint64
}

// resultKey is the entry of a result's metadata that holds its fields.
const resultKey = "result"

// mostResult is how many bytes a result may have before it is compressed.
const mostResult = 64 << 20

// More than half of the features of a position are 0, so results are compressed. The same result gives the same bytes.
var (
	squeeze, _ = zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1))
	expand, _  = zstd.NewReader(nil, zstd.WithDecoderMaxMemory(mostResult), zstd.WithDecoderConcurrency(1))
)

// AppendResult appends a result to dst as the file that ReadResult reads: safetensors, compressed by zstd.
func AppendResult(dst []byte, r *Result, tensors []mlp.Tensor) ([]byte, error) {
	text, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := mlp.WriteTensors(&b, tensors, map[string]string{resultKey: string(text)}); err != nil {
		return nil, err
	}
	return squeeze.EncodeAll(b.Bytes(), dst), nil
}

// ReadResult reads what AppendResult wrote. It refuses a file with any defect.
func ReadResult(file []byte) (_ *Result, _ []mlp.Tensor, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("not a result: %w", err)
		}
	}()
	plain, err := expand.DecodeAll(file, nil)
	if err != nil {
		return nil, nil, err
	}
	tensors, meta, err := mlp.ParseTensors(plain)
	if err != nil {
		return nil, nil, err
	}
	r := new(Result)
	if err := json.Unmarshal([]byte(meta[resultKey]), r); err != nil {
		return nil, nil, err
	}
	if min(r.Iteration, r.Slot, r.Ended, r.Moves, r.End.Age) < 0 {
		return nil, nil, errors.New("a number is below 0")
	}
	for _, t := range tensors {
		for _, v := range t.Data {
			if v-v != 0 {
				return nil, nil, fmt.Errorf("the number %v is not finite", v)
			}
		}
	}
	return r, tensors, nil
}
