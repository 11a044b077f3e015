package chart

import (
	"encoding/xml"
	"html"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// counts counts the circles of a picture, which must be well formed, and returns its texts.
func counts(t *testing.T, svg string) (circles int, texts []string) {
	require.NoError(t, xml.Unmarshal([]byte(svg), new(struct{})))
	for _, text := range regexp.MustCompile(`<text[^>]*>([^<]*)</text>`).FindAllStringSubmatch(svg, -1) {
		texts = append(texts, html.UnescapeString(text[1]))
	}
	return strings.Count(svg, "<circle "), texts
}

func TestLines(t *testing.T) {
	l := Lines{Title: "a < b", Across: "seconds", Up: "score", To: 1, Even: 0.5, Series: []Line{
		{"one", []Point{{At: 1, Value: .2, Low: .1, High: .3}, {At: 100, Value: .6, Low: .5, High: .7}}},
		{"two", []Point{{At: 50, Value: .4, Low: .3, High: .5}}},
	}}
	circles, texts := counts(t, l.SVG())
	require.Equal(t, 3, circles, "a dot for each value")
	for _, want := range []string{"a < b", "seconds", "score", "one", "two", "0.2", "100"} {
		require.Contains(t, texts, want)
	}
}

func TestRows(t *testing.T) {
	circles, texts := counts(t, Rows("Elo", "difference", []Row{{"hand", 100, 50, 150}, {"random", -100, -100, -100}}))
	require.Equal(t, 2, circles)
	require.Subset(t, texts, []string{"hand", "random", "0", "difference"})
	_, texts = counts(t, Rows("Elo", "difference", []Row{{"alone", 7, 7, 7}}))
	require.Contains(t, texts, "alone", "an axis without length")
}

// The axis of points holds the scores with their intervals, and no empty decades.
func TestAxisFitsPoints(t *testing.T) {
	var l Lines
	l.FitPoints(450, 550)
	require.True(t, l.From == 0 && l.To > 550 && l.To < 600 && !l.Log, "%v to %v", l.From, l.To)
	l.FitPoints(2, 550)
	require.True(t, l.From >= 1 && l.From < 2 && l.To > 550 && l.Log, "%v to %v", l.From, l.To)
}

// Values are where their axis has them, and round values divide it.
func TestAxis(t *testing.T) {
	a := axis{from: 10, to: 20, begin: 100, end: 0}
	require.InDeltaSlice(t, []float64{100, 50, 0}, []float64{a.at(10), a.at(15), a.at(20)}, 1e-9)
	require.InDeltaSlice(t, []float64{10, 12, 14, 16, 18, 20}, a.ticks(), 1e-9)
	a = axis{from: 1, to: 100, begin: 0, end: 100, log: true}
	require.InDeltaSlice(t, []float64{0, 50, 100, 0}, []float64{a.at(1), a.at(10), a.at(100), a.at(0)}, 1e-9)
	require.InDeltaSlice(t, []float64{1, 2, 5, 10, 20, 50, 100}, a.ticks(), 1e-9)
}
