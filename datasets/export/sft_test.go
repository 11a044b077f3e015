package export

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/stretchr/testify/require"

	"blockyard/env"
	"blockyard/env/games"
)

// sftStranger is a row as a stranger to this package reads it.
type sftStranger struct {
	Prompt     string   `parquet:"prompt" json:"prompt"`
	Completion string   `parquet:"completion" json:"completion"`
	LegalMoves []string `parquet:"legal_moves,list" json:"legal_moves"`
	Value      *float32 `parquet:"value,optional" json:"value"`
	Episode    int64    `parquet:"episode" json:"episode"`
	Step       int32    `parquet:"step" json:"step"`
	Seat       int32    `parquet:"seat" json:"seat"`
	Policy     string   `parquet:"policy_id" json:"policy_id"`
}

// Both files have every decision with an action: its position in words, its legal moves and the move.
func TestSFT(t *testing.T) {
	for _, g := range games.All {
		t.Run(g.Name, func(t *testing.T) {
			file, recs := recorded(t, g, 4)
			dir := t.TempDir()
			s, err := NewSFT(dir, g)
			require.NoError(t, err)
			walk(t, g, file, s)
			require.NoError(t, s.Close(nil))
			want := map[int64]map[string]shardRow{}
			total := 0
			for k, rec := range recs {
				want[int64(k)] = plainly(t, g, k, rec)
				for _, a := range rec.Choices {
					if a != env.None {
						total++
					}
				}
			}
			rows, err := parquet.ReadFile[sftStranger](filepath.Join(dir, "data", "train.parquet"))
			require.NoError(t, err)
			require.Len(t, rows, total)
			lines, err := os.Open(filepath.Join(dir, "train.jsonl"))
			require.NoError(t, err)
			defer lines.Close()
			in := bufio.NewScanner(lines)
			in.Buffer(nil, 1<<20)
			for _, row := range rows {
				require.True(t, in.Scan())
				var line sftStranger
				require.NoError(t, json.Unmarshal(in.Bytes(), &line))
				require.Equal(t, row, line)
				w := want[row.Episode][fmt.Sprint(row.Step, " ", row.Seat)]
				a, err := g.Parse(row.Completion)
				require.NoError(t, err)
				require.EqualValues(t, w.Action, a)
				require.Equal(t, w.Value, row.Value)
				require.Equal(t, w.Policy, row.Policy)
				require.Contains(t, row.LegalMoves, row.Completion)
				mask := make([]byte, g.MaskLen())
				for _, m := range row.LegalMoves {
					a, err := g.Parse(m)
					require.NoError(t, err)
					mask[a/8] |= 1 << (a % 8)
				}
				require.Equal(t, w.Mask, mask)
				require.Contains(t, row.Prompt, "It is your turn.")
				require.Contains(t, row.Prompt, "Legal moves: "+row.LegalMoves[0])
			}
			require.False(t, in.Scan())
			card, err := os.ReadFile(filepath.Join(dir, "README.md"))
			require.NoError(t, err)
			require.Contains(t, string(card), "4 games, ")
		})
	}
}
