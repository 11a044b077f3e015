package dropblox

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/env/envtest/rulebook"
)

// The check sums of rules §3.3 over the first n blocks.
func TestBlockTable(t *testing.T) {
	sums := map[int]string{}
	for _, row := range rulebook.Open(t, ".").Table(t, "sums") {
		sums[rulebook.Number(t, row["lines"])] = row["SHA-256"]
	}
	require.Len(t, sums, 6)
	require.Len(t, outlines(), Types-29)
	sum := sha256.New()
	for n := range Types {
		b := BlockOf(n)
		require.Equal(t, int(b.Size), SizeOf(n), n)
		var cells []string
		for _, c := range b.Cells() {
			cells = append(cells, fmt.Sprintf("%d,%d", c.I, c.J))
		}
		fmt.Fprintf(sum, "%d:%d,%d:%s\n", n, b.Center.I, b.Center.J, strings.Join(cells, ";"))
		if want, ok := sums[n+1]; ok {
			require.Equal(t, want, hex.EncodeToString(sum.Sum(nil)), "the first %d blocks", n+1)
		}
	}
}

func TestBlockPictures(t *testing.T) {
	for n, want := range map[int]string{0: "0 #", 8: "8 #./##/.#", 20: "20 ..#/..#/###", 29: "29 ###/..#/..#/..#"} {
		b := BlockOf(n)
		require.Equal(t, want, b.String())
	}
}
