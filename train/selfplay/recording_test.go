package selfplay

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"blockyard/agents/mlp"
	"blockyard/datasets/record"
	"blockyard/env/envtest"
	task "blockyard/train/games"

	"github.com/stretchr/testify/require"
)

// newRecorder is a stub whose rollouts end some games, and begin some late and with opponents.
func newRecorder() *stub {
	s := newStub(Options{Seed: 5, Games: 5, Iterations: 24, Gates: 1}, 9)
	s.rollout.Late, s.rollout.Versus = .5, .5
	return s
}

// A sitting is what one process does for a run in a folder.
type sitting struct {
	*Run
	folder *Folder
}

// sit begins or continues the run in a folder and records to a file there, unless name is empty.
func sit(t *testing.T, dir, name string) (*sitting, error) {
	r, err := Resume(task.BlockBattle, filepath.Join(dir, StateFile), newRecorder(), 2)
	if os.IsNotExist(err) {
		r, err = New(task.BlockBattle, newRecorder(), nil, 2)
	}
	require.NoError(t, err)
	f := envtest.Must(OpenFolder(dir, r))
	if name == "" {
		return &sitting{r, f}, nil
	}
	return &sitting{r, f}, r.RecordTo(filepath.Join(dir, name))
}

// steps plays rollouts and saves after each of them that save says, counted from 1.
func (s *sitting) steps(t *testing.T, n int, save func(int) bool) {
	for k := 1; k <= n && !s.spent(); k++ {
		require.NoError(t, s.Step())
		if s.folder.saved = time.Now(); save(k) {
			s.folder.saved = time.Time{}
		}
		require.NoError(t, s.folder.After(false))
	}
}

func (s *sitting) spent() bool { return s.Counts.Iterations >= s.Options.Iterations }

// end ends the process as a signal does.
func (s *sitting) end(t *testing.T) {
	require.NoError(t, s.folder.Close())
	require.NoError(t, s.Close())
}

func recorded(t *testing.T, path string) (all []string) {
	in := envtest.Must(record.Open(path))
	defer in.Close()
	for rec, err := range in.All() {
		require.NoError(t, err)
		require.NoError(t, record.Check(task.BlockBattle.Rules, rec))
		all = append(all, string(envtest.Must(json.Marshal(rec))))
	}
	return all
}

func never(int) bool       { return false }
func second(k int) bool    { return k%2 == 0 }
func undisturbed(int) bool { return true }

// playInto plays rollouts of the run in a folder and records to a file there.
func playInto(t *testing.T, dir, name string, rollouts int) {
	s := envtest.Must(sit(t, dir, name))
	s.steps(t, rollouts, undisturbed)
	s.end(t)
}

// recordedWhole returns the records of an undisturbed run.
func recordedWhole(t *testing.T) []string {
	dir := t.TempDir()
	playInto(t, dir, "games.jsonl", 24)
	all := recorded(t, filepath.Join(dir, "games.jsonl"))
	require.Greater(t, len(all), 20)
	return all
}

// Whenever the process of a run is killed, and however much of the last games has reached the file, the run that is
// continued records each game exactly once.
func TestEachGameIsRecordedOnce(t *testing.T) {
	want := recordedWhole(t)
	for _, name := range []string{"games.jsonl", "games.jsonl.gz"} {
		for _, cut := range []int{0, 1, 70, 1 << 20} { // bytes of the last games that have not reached the file
			dir := t.TempDir()
			path, state := filepath.Join(dir, name), filepath.Join(dir, StateFile)
			for kills := 0; ; kills++ {
				s := envtest.Must(sit(t, dir, name))
				s.steps(t, 1, never)
				s.steps(t, 2, second)
				before := size(path)
				s.steps(t, 1, undisturbed)
				last := envtest.Must(os.ReadFile(state))
				if s.spent() {
					s.end(t)
					require.Greater(t, kills, 4)
					break
				}
				s.steps(t, 1, never)
				require.NoError(t, os.Truncate(path, max(before, size(path)-int64(cut))))
				require.True(t, bytes.Equal(last, envtest.Must(os.ReadFile(state))))
			}
			require.Equal(t, want, recorded(t, path), "%s, %d bytes cut off", name, cut)
		}
	}
}

func size(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}

// After a signal nothing is missing, so a run may go on with another file, or with none. What others append to the file
// meanwhile stays. After a kill only the same file will do.
func TestRecordsOfSeveralFiles(t *testing.T) {
	want, dir := recordedWhole(t), t.TempDir()
	a, b := filepath.Join(dir, "a.jsonl"), filepath.Join(dir, "b.jsonl")
	playInto(t, dir, "a.jsonl", 5)
	s := envtest.Must(sit(t, dir, "b.jsonl"))
	s.steps(t, 5, undisturbed) // and is killed
	_, err := sit(t, dir, "a.jsonl")
	require.ErrorContains(t, err, `may be missing in "b.jsonl": continue with --record and that file`)
	text := envtest.Must(os.ReadFile(b))
	first, _, _ := bytes.Cut(text, []byte("\n"))
	more := slices.Concat(text, first, []byte("\n")) // a game of somebody else, the same as the first
	require.NoError(t, os.WriteFile(b, more, 0o600))
	playInto(t, dir, "b.jsonl", 24)
	require.ElementsMatch(t, append(want, string(first)), append(recorded(t, a), recorded(t, b)...))

	s, err = sit(t, dir, "") // no --record: the games in progress are of no use any more
	require.NoError(t, err)
	require.NoError(t, s.Play(t.Context(), s.Learner.Rollout()))
	require.Nil(t, s.Slots[0].record)
	s.end(t)
}

// A saved run that claims games which its slots do not stand in, or that are none, is refused.
func TestForeignRecordings(t *testing.T) {
	dir := t.TempDir()
	playInto(t, dir, "games.jsonl", 3)
	path := filepath.Join(dir, StateFile)
	tensors, meta := envtest.Must2(mlp.ParseTensors(envtest.Must(os.ReadFile(path))))
	at := slices.IndexFunc(tensors, func(x mlp.Tensor) bool { return x.Name == gamesTensor })
	require.GreaterOrEqual(t, at, 0)
	clean := tensors[at]
	for says, change := range map[string]func(m map[string]any) []float32{
		"out of range":             func(m map[string]any) []float32 { m["file"] = "../games.jsonl"; return nil },
		"from game -1 on":          func(m map[string]any) []float32 { m["at"] = -1; return nil },
		"want 0 to 4":              func(m map[string]any) []float32 { m["slots"] = []int{0, 1, 2, 3, 5}; return nil },
		"leads to another":         func(m map[string]any) []float32 { m["slots"] = []int{1, 0, 2, 3, 4}; return nil },
		"want those of 6 slots":    func(m map[string]any) []float32 { m["slots"] = make([]int, 6); return make([]float32, 0) },
		"holds 256, want 0 to 255": func(map[string]any) []float32 { return []float32{256} },
		"invalid character":        func(map[string]any) []float32 { return []float32{'x', '\n'} },
	} {
		var run map[string]any
		require.NoError(t, json.Unmarshal([]byte(meta["run"]), &run))
		tensors[at] = clean
		if data := change(run["recording"].(map[string]any)); data != nil {
			tensors[at].Data, tensors[at].Shape = data, []int{len(data)}
		}
		text := envtest.Must(json.Marshal(run))
		var b bytes.Buffer
		require.NoError(t, mlp.WriteTensors(&b, tensors, map[string]string{"run": string(text), sumKey: noSum}))
		require.NoError(t, Seal(b.Bytes()))
		require.NoError(t, os.WriteFile(path, b.Bytes(), 0o600))
		require.ErrorContains(t, envtest.Failed(Resume(task.BlockBattle, path, newRecorder(), 1)), says)
	}
}
