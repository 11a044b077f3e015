package dropblox

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash/crc32"
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

// Check sums of the first 2,000 numbers, by how many words the key has. Python's random.getrandbits(32) gave the numbers
// after random.seed of the number that has these words.
func TestTwisterAgainstPython(t *testing.T) {
	for words, want := range map[int]uint32{
		1: 0x8c70d36c, 2: 0x349e52ff, 3: 0x93699395, 20: 0x9b29a94d, 200: 0xa4c61405,
		623: 0x85b435f6, 624: 0xa71e2873, 625: 0xb3e0c834, 801: 0x913cd80d, 1500: 0xb6fdffa3,
	} {
		key := make([]uint32, words)
		for k := range key {
			key[k] = 2654435761 * uint32(k+words)
		}
		var numbers []byte
		var g Twister
		g.Seed(key)
		for range 2000 {
			numbers = binary.LittleEndian.AppendUint32(numbers, g.next())
		}
		require.Equal(t, want, crc32.ChecksumIEEE(numbers), "%d words", words)
	}
}

// What is kept for a score is what the rules compute, the first time and later; at scores of no game too.
func TestKeptForScores(t *testing.T) {
	for range 2 {
		for score := -3; score < 2*len(meanSizes); score++ {
			require.Equal(t, float32(MeanSize(score)), meanSize(score))
			require.Equal(t, ratio(score)*sigma(float64(2*(score-levelStep))/levelStep), firstLevel(score))
		}
	}
}
