package dropblox

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The check sums of rules §5 over the first n blocks.
func TestBlockTable(t *testing.T) {
	sums := map[int]string{
		29:    "be4353d69f406150372c707e811ec3b72322a5e813bbf78b9ec10decb7285f0d",
		89:    "a11d6c25f2d4a95b7ced334565e7ed36b5d1c1f651580fc9c269d74f83b620c1",
		285:   "0e9a2f4703c682ec8b8c06ebe73e25547760426f73e32bf24ea8a57d8bf8dd95",
		989:   "89480d4c1ad350f212a125a80b1915d994e281e82a9bc3d74bd80ecd30174238",
		3489:  "b3b037137055e406ba4b6d07780841ca37e73e972803c965d33cd979582dce21",
		Types: "2ebbeffc37e6fc9f60400b38aad7d0c5e58cd44821b6965a29d8aca23df4c808",
	}
	require.Len(t, outlines, Types-29)
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

func BenchmarkTable(b *testing.B) {
	for b.Loop() {
		growAll()
	}
}
