package picture

import (
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSVG(t *testing.T) {
	svg := SVG("a < b", []Panel{
		{Caption: "one & two", Rows: []string{"..#", ":= "}, Left: []string{"0", "1"}, Columns: true, Lines: []int{1}},
		{Rows: []string{".I"}, Looks: map[byte]Look{'I': Inks[0]}, Texts: map[[2]int]string{{0, 0}: "1", {1, 0}: "2"}},
	})
	for d := xml.NewDecoder(strings.NewReader(svg)); ; {
		_, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
	}
	require.Contains(t, svg, "<title>a &lt; b</title>")
	require.Contains(t, svg, `<path class="e" d="M0 0h24v12h-24z"/>`, "a run of equal cells is one rectangle")
	require.Contains(t, svg, `<path class="x" d="M24 0h12v12h-12z"/>`)
	require.Contains(t, svg, `<text class="m" x="6" y="9">1</text>`, "on an empty cell, in the colour of the page's text")
	require.Contains(t, svg, `<text class="n" x="18" y="9">2</text>`, "on a piece, dark")
}

func TestRowsAndLabels(t *testing.T) {
	require.Equal(t, []string{"aZ", ".."}, Draw(2, 2, func(x, y int) byte { return "aZ.."[2*y+x] }))
	require.Equal(t, []string{"2", "1", "0"}, Numbers(2, 0))
	require.Equal(t, []string{"-1", "0"}, Numbers(-1, 0))
	require.Equal(t, Inks[6], Letters("IJLOSTZ")['Z'])
	one := []Panel{{Caption: "one"}}
	require.Equal(t, [][]Panel{append(one, one...), one}, Pairs([][]Panel{one, one, one}))
}

// Every look has a colour in the light and, unless a tint serves both, in the dark theme.
func TestLooksHaveColours(t *testing.T) {
	light, dark, ok := strings.Cut(style, "@media")
	require.True(t, ok)
	for _, look := range append(Inks[:], Red, Empty, Filled, Solid, Shade, RedZone, MidZone, BlueZone) {
		rule := regexp.MustCompile(`\.` + string(look) + `[,{]`)
		require.Regexp(t, rule, light, look)
		if !strings.Contains("ijlotvzr", string(look)) {
			require.Regexp(t, rule, dark, look)
		}
	}
}
