package handles

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/bots/wintetrisbot"
	"blockyard/datasets/program/capi"
	"blockyard/env/envtest"
	"blockyard/env/wintetris"
)

// TestBlocksInBothTerms turns every place of the engine's to rows from the top and back.
func TestBlocksInBothTerms(t *testing.T) {
	var empty wintetris.Field
	n := 0
	for k := uint8(0); k < wintetris.Kinds; k++ {
		for i := range int32(4 * 20 * 30) {
			rotation, x, y := i%4, i/4%20-5, i/80-5
			got, err := Block("it", int32(k), rotation, x, y)
			size := wintetris.Size(k)
			fits := int(y) >= -size
			for _, c := range (wintetris.Block{Kind: k, Rot: uint8(rotation)}).Cells() { // by the rows of a drawing
				column, row := int(x)+c[0], int(y)+size-1-c[1]
				fits = fits && column >= 0 && column < 10 && row < 20
			}
			require.Equal(t, fits, err == nil, "kind %d, rotation %d, x %d, y %d: %v", k, rotation, x, y, err)
			if fits {
				require.True(t, empty.Fits(got))
				require.Equal(t, int32(20-int(got.Y)-size), y)
				n++
			}
		}
		at := wintetris.Spawn(k)
		require.Equal(t, at, envtest.Must(Block("it", int32(k), 0, int32(at.X), []int32{-1, 0, 0, 0, 0, 0, 0}[k])))
	}
	require.Greater(t, n, 4000)
}

func TestOptions(t *testing.T) {
	hand := func(change func(w *wintetrisbot.Weights), parts int) wintetris.Solver {
		w := wintetrisbot.Demo
		change(&w)
		return wintetrisbot.NewSolver(wintetrisbot.NewHand(w), parts)
	}
	none := func(*wintetrisbot.Weights) {}
	file := envtest.File(t, "weights.json", wintetrisbot.Entry.Baseline.Format([]float32{0, 2, 3, 4, 5, 6, 0}))
	for text, want := range map[string]wintetris.Solver{
		"":                            hand(none, 4),
		" ; ;":                        hand(none, 4),
		" parts = 100 ; top = -1.5 ;": hand(func(w *wintetrisbot.Weights) { w[wintetrisbot.Top] = -1.5 }, 100),
		"holes=1;slots=2;row=3;rows=4;top=5;bottom=6;chasms=7;evaluator=hand": hand(
			func(w *wintetrisbot.Weights) { *w = wintetrisbot.Weights{1, 2, 3, 4, 5, 6, 7} }, 4),
		"holes=1;weights=" + file: hand(func(w *wintetrisbot.Weights) { *w = wintetrisbot.Weights{1, 2, 3, 4, 5, 6, 0} }, 4),
	} {
		got, err := NewSolver(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
	}
	for text, want := range map[string]string{
		"hand":                            `option "hand": want NAME=VALUE`,
		"evaluator=beam":                  `option evaluator: "beam": want hand or learned`,
		"parts=0":                         `option parts: "0": want 1 to 100`,
		"parts=4;parts=4":                 `option "parts" is given twice`,
		"holes=nan":                       `option holes: "nan": want a number within ±1000000`,
		"holes=1e7":                       `option holes: "1e7": want a number`,
		"weights=":                        `option "weights=": want NAME=VALUE`,
		"evaluator=learned;weights=a=b":   "a=b",
		"hole=3":                          "option hole: unknown; want evaluator, weights, parts, holes,",
		"evaluator=learned;top=1":         "evaluator learned has no single weights",
		strings.Repeat(";", MaxOptions+1): "options: longer than 4096 bytes",
		strings.Repeat("x", 3000) + "=1":  "unknown",
		"weights=/no/such/file":           "/no/such/file",
	} {
		_, err := NewSolver(text)
		require.ErrorContains(t, err, want, text)
		require.Less(t, len(err.Error()), 300)
	}
}

// scripted is a solver that does what a test says.
type scripted func() wintetris.Bits

func (s scripted) Update(*wintetris.Field, wintetris.Block, wintetris.Block, bool) wintetris.Bits {
	return s()
}

// ask reads the arguments of a call.
func ask(q *Request) error {
	*q = Request{Current: wintetris.Spawn(1), Next: wintetris.Spawn(2), NewPiece: true}
	return nil
}

// options returns what a caller passes.
func options(text string) func() string { return func() string { return text } }

// TestCrash: a solver that crashes is made anew for the next call, with its options.
func TestCrash(t *testing.T) {
	var made []string
	refuse := false
	tab := NewTable(func(options string) (wintetris.Solver, error) {
		made = append(made, options)
		if refuse {
			return nil, errors.New("not again")
		}
		n := 0
		return scripted(func() wintetris.Bits {
			if n++; n == 2 {
				panic("oh")
			}
			return 5
		}), nil
	})
	h := tab.Open(options("o"))
	for i, want := range []int32{5, -3, 5, -3} {
		require.Equal(t, want, tab.Update(h, ask), i)
	}
	text := envtest.Must(tab.LastError(h))
	require.Equal(t, "the solver failed: oh", text)
	require.Equal(t, []string{"o", "o"}, made)
	refuse = true
	require.EqualValues(t, -3, tab.Update(h, ask))
	text, _ = tab.LastError(h)
	require.Equal(t, "not again", text)
	require.Zero(t, tab.Close(h))
	require.ErrorIs(t, envtest.Failed(tab.LastError(h)), capi.ErrNotOpen)
}

func TestSoManySolversAndNoMore(t *testing.T) {
	tab := NewTable(func(string) (wintetris.Solver, error) { return scripted(nil), nil })
	seen := map[int64]bool{}
	for range MaxOpen {
		seen[tab.Open(options(""))] = true
	}
	require.Len(t, seen, MaxOpen)
	require.False(t, seen[0])
	require.Zero(t, tab.Open(options("")))
	text, _ := tab.LastError(0)
	require.Contains(t, text, "4096 solvers are open")
	require.Zero(t, tab.Close(7))
	require.EqualValues(t, MaxOpen+1, tab.Open(options("")), "no handle is given twice")
}

// TestCallsOnOneSolverWait: calls overlap on two solvers, never on one; closing waits.
func TestCallsOnOneSolverWait(t *testing.T) {
	inside, leave := make(chan int), make(chan bool)
	tab := NewTable(func(options string) (wintetris.Solver, error) {
		busy := false
		return scripted(func() wintetris.Bits {
			if busy {
				panic("two calls at once")
			}
			busy = true
			if options == "wait" {
				inside <- 1
				<-leave
			}
			busy = false
			return 1
		}), nil
	})
	slow, quick := tab.Open(options("wait")), tab.Open(options(""))
	answers := make(chan int32)
	go func() { answers <- tab.Update(slow, ask) }()
	<-inside
	require.EqualValues(t, 1, tab.Update(quick, ask), "another solver's call does not wait")
	text, err := tab.LastError(slow)
	require.NoError(t, err)
	require.Empty(t, text, "nor does the question what went wrong")
	closed := make(chan int32)
	go func() { closed <- tab.Close(slow) }()
	for err == nil { // until Close has begun
		_, err = tab.LastError(slow)
	}
	select {
	case <-closed:
		t.Fatal("closed during a call")
	default:
	}
	require.EqualValues(t, -1, tab.Update(slow, ask), "it is not found any more")
	leave <- true
	require.EqualValues(t, 1, <-answers, "the call goes on to its end")
	require.Zero(t, <-closed)
}

func FuzzUpdate(f *testing.F) {
	f.Add([]byte{0, 0, 0, 3, 0, 1, 0, 3, 0, 255, 255, 7}, true, uint8(0))
	f.Add([]byte{6, 3, 250, 22, 6, 2, 5, 200}, false, uint8(1))
	tab := NewTable(NewSolver)
	handles := [2]int64{tab.Open(options("parts=1;slots=7")), tab.Open(options("evaluator=learned"))}
	require.NotContains(f, handles, int64(0))
	f.Fuzz(func(t *testing.T, data []byte, fresh bool, solver uint8) {
		var at [8]int32 // of both pieces
		for i := range min(8, len(data)) {
			at[i] = int32(int8(data[i]))
		}
		var cells [wintetris.Width * wintetris.Height]uint8
		for i := 8; i < len(data) && i < 33; i++ {
			for b := range 8 {
				cells[8*(i-8)+b] = data[i] >> b & 1
			}
		}
		h := handles[solver%2]
		got := tab.Update(h, func(q *Request) (err error) {
			q.Field, q.NewPiece = Field(&cells), fresh
			if q.Current, err = Block("current", at[0], at[1], at[2], at[3]); err == nil {
				q.Next, err = Block("next", at[4], at[5], at[6], at[7])
			}
			return err
		})
		text, _ := tab.LastError(h)
		require.GreaterOrEqual(t, got, int32(-2), text)
		require.Less(t, got, int32(32))
	})
}

func FuzzOptions(f *testing.F) {
	f.Add("evaluator=hand;parts=4;holes=-500;top=-1e3")
	f.Add("weights=a;;=;x")
	f.Fuzz(func(t *testing.T, text string) {
		if _, err := parse(text); err != nil {
			require.Less(t, len(err.Error()), 1000)
		}
	})
}
