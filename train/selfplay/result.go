package selfplay

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"blockyard/agents/mlp"
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

// AppendResult appends a result to dst as the file that ReadResult reads: the fields, the shapes of the tensors, their
// numbers. Numbers are varints, strings follow their length. Of the tensors' numbers, up to eight follow a byte whose
// bits say which of them are not 0, and only those are there: more than half of the features of a position are 0.
func AppendResult(dst []byte, r *Result, tensors []mlp.Tensor) []byte {
	for _, n := range []int{r.Iteration, r.Slot, r.End.Age, r.Ended, r.Moves} {
		dst = binary.AppendUvarint(dst, uint64(n))
	}
	dst = binary.AppendUvarint(dst, r.Visited)
	text := func(s string) {
		dst = binary.AppendUvarint(dst, uint64(len(s)))
		dst = append(dst, s...)
	}
	text(r.End.State)
	text(r.End.Word)
	text(string(r.End.Opponent))
	dst = binary.AppendUvarint(dst, uint64(len(tensors)))
	for _, t := range tensors {
		text(t.Name)
		dst = binary.AppendUvarint(dst, uint64(len(t.Shape)))
		for _, d := range t.Shape {
			dst = binary.AppendUvarint(dst, uint64(d))
		}
	}
	for _, t := range tensors {
		for numbers := range slices.Chunk(t.Data, 8) {
			at := len(dst)
			dst = append(dst, 0)
			for k, v := range numbers {
				if word := math.Float32bits(v); word != 0 {
					dst[at] |= 1 << k
					dst = binary.LittleEndian.AppendUint32(dst, word)
				}
			}
		}
	}
	return dst
}

// ReadResult reads what AppendResult wrote. It refuses a file with any defect; memory stays within a small multiple of
// the file's length.
func ReadResult(file []byte) (*Result, []mlp.Tensor, error) {
	f := resultReader{rest: file}
	r := &Result{Iteration: f.count(), Slot: f.count()}
	r.End.Age, r.Ended, r.Moves, r.Visited = f.count(), f.count(), f.count(), f.number()
	r.End.State, r.End.Word, r.End.Opponent = f.text(), f.text(), []uint8(f.text())
	most := 8 * len(file) // numbers
	tensors, all := make([]mlp.Tensor, f.length()), 0
	for i := range tensors {
		t := &tensors[i]
		t.Name, t.Shape = f.text(), make([]int, f.length())
		size := 1
		for k := range t.Shape {
			t.Shape[k] = f.count()
			size = min(size*t.Shape[k], most+1)
		}
		if all += size; all > most {
			f.fail("tensors of more than %d numbers in %d bytes", most, len(file))
		}
		if f.err != nil {
			return nil, nil, f.err
		}
	}
	data := make([]float32, all)
	for i := range tensors {
		t := &tensors[i]
		n := 1
		for _, d := range t.Shape {
			n *= d
		}
		t.Data, data = data[:n:n], data[n:]
		f.numbers(t.Data)
	}
	if len(f.rest) > 0 {
		f.fail("%d bytes follow the last number", len(f.rest))
	}
	return r, tensors, f.err
}

// A resultReader takes the file of a result apart. The first error stands for all.
type resultReader struct {
	rest []byte
	err  error
}

func (f *resultReader) fail(format string, a ...any) {
	if f.err == nil {
		f.err = fmt.Errorf("not a result: "+format, a...)
	}
	f.rest = nil
}

// number reads a varint.
func (f *resultReader) number() uint64 {
	v, n := binary.Uvarint(f.rest)
	if n <= 0 {
		f.fail("a number is cut off")
		return 0
	}
	f.rest = f.rest[n:]
	return v
}

// count reads a varint that fits an int32.
func (f *resultReader) count() int {
	v := f.number()
	if v > math.MaxInt32 {
		f.fail("%d is out of range", v)
		return 0
	}
	return int(v)
}

// length reads how many things of a byte at least follow.
func (f *resultReader) length() int {
	n := f.count()
	if n > len(f.rest) {
		f.fail("%d things in %d bytes: truncated?", n, len(f.rest))
		return 0
	}
	return n
}

func (f *resultReader) text() string {
	n := f.length()
	s := string(f.rest[:n])
	f.rest = f.rest[n:]
	return s
}

// numbers reads a tensor's numbers into x, which holds zeros.
func (f *resultReader) numbers(x []float32) {
	for part := range slices.Chunk(x, 8) {
		if len(f.rest) == 0 {
			f.fail("truncated")
			return
		}
		mask := f.rest[0]
		f.rest = f.rest[1:]
		if bits.Len8(mask) > len(part) || 4*bits.OnesCount8(mask) > len(f.rest) {
			f.fail("truncated")
			return
		}
		for ; mask != 0; mask &= mask - 1 {
			v := math.Float32frombits(binary.LittleEndian.Uint32(f.rest))
			if v-v != 0 {
				f.fail("the number %v is not finite", v)
				return
			}
			part[bits.TrailingZeros8(mask)] = v
			f.rest = f.rest[4:]
		}
	}
}
