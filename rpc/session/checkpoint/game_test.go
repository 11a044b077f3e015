package checkpoint

import (
	"encoding/binary"
	"hash/crc32"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/env/envtest"
)

// Bytes of the data of an opponent and of an agent of the policy, before its memory.
const (
	opponentHead = 1 + 2
	policyHead   = 1 + 8 + 8 + 8
)

// kind is that of the games of these tests.
const kind = 7

// A game is read as it was written; any byte changed, cut off or added, another kind and another version are refused.
func TestGames(t *testing.T) {
	g := &Game{Snapshot: []byte("position"), Opponents: []Agent{{Seat: 1, Number: 513, Memory: []byte("m")}},
		Policy: []Agent{{Seat: 0, At: Episode{1, 2, 3}, Memory: []byte{}}}}
	one := g.Append([]byte("before"), kind)[len("before"):]
	first, rest := envtest.Must2(Cut(append(append([]byte{}, one...), "rest"...)))
	require.Equal(t, "rest", string(rest))
	back := envtest.Must(Parse(first, kind))
	require.Equal(t, g, back)
	require.ErrorContains(t, envtest.Failed(Parse(one, kind+1)), "of another game")
	for k := range one {
		require.Error(t, envtest.Failed2(Cut(one[:k])), k)
		damaged := append([]byte{}, one...)
		damaged[k]++
		first, _, err := Cut(damaged)
		if err == nil {
			_, err = Parse(first, kind)
		}
		require.Error(t, err, k)
	}
	damaged := append([]byte{}, one...)
	damaged[3] = 9
	require.ErrorContains(t, envtest.Failed2(Cut(damaged)), "version 9")
}

// sealed is a game of version 2 with these parts, whatever they are.
func sealed(parts []byte) []byte {
	b := append([]byte(gameMagic), 0, 0, 0, 0)
	b = append(b, parts...)
	binary.LittleEndian.PutUint32(b[4:], uint32(len(b)+gameSum))
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
}

// Parts with a right checksum are refused if they are unknown, missing, too many, twice there or too short.
func TestPartsThatDoNotFit(t *testing.T) {
	good := appendPart(appendPart(nil, "kind", make([]byte, 8)), "state", []byte("s"))
	envtest.Must(Parse(sealed(good), 0))
	for name, parts := range map[string][]byte{
		"none":            nil,
		"no state":        appendPart(nil, "kind", make([]byte, 8)),
		"no kind":         appendPart(nil, "state", []byte("s")),
		"two states":      appendPart(good, "state", []byte("s")),
		"unknown":         appendPart(good, "weather", nil),
		"short kind":      appendPart(appendPart(nil, "kind", make([]byte, 7)), "state", []byte("s")),
		"short opponent":  appendPart(good, "opponent", make([]byte, opponentHead-1)),
		"short policy":    appendPart(good, "policy", make([]byte, policyHead-1)),
		"seat":            appendPart(good, "opponent", []byte{200, 0, 0}),
		"no length":       append(good, 4, 'k', 'i', 'n', 'd', 1, 0),
		"too long":        append(good, 4, 'k', 'i', 'n', 'd', 255, 255, 255, 255),
		"name is cut off": append(good, 200, 'k'),
		"more agents than seats": append(appendPart(good, "opponent", make([]byte, 3)),
			appendPart(appendPart(appendPart(appendPart(nil, "opponent", make([]byte, 3)), "opponent", make([]byte, 3)),
				"opponent", make([]byte, 3)), "policy", make([]byte, policyHead))...),
	} {
		require.Error(t, envtest.Failed(Parse(sealed(parts), 0)), name)
	}
}

// FuzzGame reads any parts as a game of version 2, with a right checksum: refused, or a game that is written with the
// same agents and the same bytes each time.
func FuzzGame(f *testing.F) {
	good := &Game{Snapshot: []byte("position"), Opponents: []Agent{{Seat: 1, Number: 513, Memory: []byte("m")}},
		Policy: []Agent{{At: Episode{1, 2, 3}}, {Seat: 2, Memory: []byte("memory")}}}
	for _, g := range []*Game{good, {Snapshot: []byte{}}, {Snapshot: []byte("s"), Opponents: good.Opponents}} {
		b := g.Append(nil, kind)
		f.Add(b[gameHead : len(b)-gameSum])
	}
	f.Fuzz(func(t *testing.T, parts []byte) {
		one, rest := envtest.Must2(Cut(sealed(parts)))
		require.Empty(t, rest)
		g, err := Parse(one, kind)
		if err != nil {
			require.Less(t, len(err.Error()), 200, "an error repeats what it refuses in part only")
			return
		}
		again := g.Append(nil, kind)
		back := envtest.Must(Parse(again, kind))
		require.Equal(t, g, back)
		require.LessOrEqual(t, len(again), len(one))
		require.Equal(t, again, back.Append(nil, kind))
	})
}
