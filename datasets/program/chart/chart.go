// Package chart draws values with their intervals as SVG, for light and dark pages, with a browser's fonts.
package chart

import (
	"fmt"
	"html"
	"math"
	"strings"
)

// A Point is a value at a place of the horizontal axis, and its interval.
type Point struct{ At, Value, Low, High float64 }

// A Line is a series of points, each further along than the one before.
type Line struct {
	Name   string
	Points []Point
}

// Lines is a chart of series over a common horizontal axis, and how its axes are drawn.
type Lines struct {
	Title, Across, Up string  // what the picture shows, and what its axes do
	From, To          float64 // ends of the upward axis
	Log               bool    // whether it is logarithmic
	Even              float64 // value of a grey line, if there is one
	Series            []Line
}

// A Row is a value with a name and its interval, as a line of a chart.
type Row struct {
	Name             string
	Value, Low, High float64
}

const (
	width          = 700 // of every picture, in pixels
	top, right     = 34, 16
	bottom, letter = 46, 7 // below the plot; about as wide as a letter is
)

var colours = []string{"#1f77b4", "#d95f02", "#2ca02c", "#c51b7d", "#7570b3", "#8c564b", "#17a2b8", "#b8860b"}

// An axis maps values to pixels of a picture, in proportion or by their logarithm.
type axis struct {
	from, to   float64
	begin, end float64
	log        bool
}

func (a axis) at(v float64) float64 {
	from, to := a.from, a.to
	if a.log {
		from, to, v = math.Log(from), math.Log(to), math.Log(max(v, a.from))
	}
	return a.begin + (v-from)/(to-from)*(a.end-a.begin)
}

// ticks are about six round values: multiples of 1, 2 or 5 of a power of ten; all of these on a logarithmic axis.
func (a axis) ticks() (list []float64) {
	if a.log {
		for power := math.Pow(10, math.Floor(math.Log10(a.from))); power <= a.to; power *= 10 {
			for _, v := range []float64{power, 2 * power, 5 * power} {
				if v >= a.from && v <= a.to {
					list = append(list, v)
				}
			}
		}
		return list
	}
	step := math.Pow(10, math.Floor(math.Log10((a.to-a.from)/4)))
	for _, factor := range []float64{5, 2} {
		if (a.to-a.from)/(factor*step) >= 4 {
			step *= factor
			break
		}
	}
	for k := math.Ceil(a.from / step); k*step <= a.to+step/1e6; k++ {
		list = append(list, k*step)
	}
	return list
}

func begin(b *strings.Builder, height int, title string) {
	fmt.Fprintf(b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%[1]d" height="%[2]d" `+
		`font-family="system-ui, sans-serif" font-size="13">`+"\n"+
		`<style>svg{background:#fff;fill:#222}.g{stroke:#ddd}.e{stroke:#888}@media(prefers-color-scheme:dark)`+
		`{svg{background:#16181d;fill:#ddd}.g{stroke:#333}}</style>`+"\n", width, height)
	text(b, width/2, 20, "middle", title)
}

func text(b *strings.Builder, x, y float64, anchor, s string) {
	fmt.Fprintf(b, `<text x="%.1f" y="%.1f" text-anchor="%s">%s</text>`+"\n", x, y, anchor, html.EscapeString(s))
}

func line(b *strings.Builder, x1, y1, x2, y2 float64, style string) {
	fmt.Fprintf(b, `<path d="M%.1f %.1fL%.1f %.1f" %s/>`+"\n", x1, y1, x2, y2, style)
}

// across draws the lines and values of the horizontal axis at the foot of the plot.
func across(b *strings.Builder, x axis, foot float64, label string) {
	for _, v := range x.ticks() {
		line(b, x.at(v), top, x.at(v), foot, `class="g"`)
		text(b, x.at(v), foot+16, "middle", fmt.Sprintf("%.6g", v))
	}
	text(b, (x.begin+x.end)/2, foot+36, "middle", label)
}

// FitPoints fits the upward axis to scores in points. Those that grow twentyfold need a logarithmic one.
func (l *Lines) FitPoints(least, most float64) {
	l.From, l.To = 0, 1.05*max(most, 1)
	if l.Log = most >= 20*max(least, 1); l.Log {
		l.From, l.To = max(1, least/1.5), 1.5*most
	}
}

// SVG returns the chart as a picture, 700 pixels wide, that needs no other file.
func (l *Lines) SVG() string {
	var b strings.Builder
	const height = 400
	begin(&b, height, l.Title)
	x, y := axis{begin: 70, end: width - right}, axis{from: l.From, to: l.To, begin: height - bottom, end: top, log: l.Log}
	for _, s := range l.Series {
		x.to = max(x.to, 1.02*s.Points[len(s.Points)-1].At)
	}
	across(&b, x, y.begin, l.Across)
	for _, v := range y.ticks() {
		line(&b, x.begin, y.at(v), x.end, y.at(v), `class="g"`)
		text(&b, x.begin-6, y.at(v)+4, "end", fmt.Sprintf("%.6g", v))
	}
	fmt.Fprintf(&b, `<g transform="rotate(-90 16 %d)">`, height/2)
	text(&b, 16, height/2, "middle", l.Up)
	b.WriteString("</g>\n")
	if l.Even > 0 {
		line(&b, x.begin, y.at(l.Even), x.end, y.at(l.Even), `class="e"`)
	}
	for i, s := range l.Series {
		colour := colours[i%len(colours)]
		fmt.Fprintf(&b, `<g fill="%s" stroke="%[1]s"><path fill="none" d="M`, colour)
		for _, p := range s.Points {
			fmt.Fprintf(&b, " %.1f %.1f", x.at(p.At), y.at(p.Value))
		}
		b.WriteString("\"/>\n")
		for _, p := range s.Points {
			interval(&b, x.at(p.At), y.at(p.Low), x.at(p.At), y.at(p.High), x.at(p.At), y.at(p.Value))
		}
		b.WriteString("</g>\n")
		down := float64(top + 18*(i+1))
		line(&b, x.begin+10, down-4, x.begin+30, down-4, fmt.Sprintf(`stroke="%s" stroke-width="3"`, colour))
		text(&b, x.begin+36, down, "start", s.Name)
	}
	return b.String() + "</svg>\n"
}

func interval(b *strings.Builder, x1, y1, x2, y2, x, y float64) {
	line(b, x1, y1, x2, y2, "")
	fmt.Fprintf(b, `<circle cx="%.1f" cy="%.1f" r="3.5"/>`+"\n", x, y)
}

// Rows draws values with their names at the left, the first at the top.
func Rows(title, label string, rows []Row) string {
	var b strings.Builder
	foot := top + 26*len(rows)
	begin(&b, foot+bottom, title)
	x, longest := axis{from: math.Inf(1), to: math.Inf(-1), end: width - right}, 0
	for _, r := range rows {
		x.from, x.to, longest = min(x.from, r.Low), max(x.to, r.High), max(longest, len(r.Name))
	}
	pad := 0.03*(x.to-x.from) + 1e-9
	x.from, x.to, x.begin = x.from-pad, x.to+pad, min(width/2, float64(20+letter*longest))
	across(&b, x, float64(foot), label)
	for i, r := range rows {
		y := float64(top + 26*i + 13)
		text(&b, x.begin-6, y+4, "end", r.Name)
		fmt.Fprintf(&b, `<g fill="%s" stroke="%[1]s">`, colours[0])
		interval(&b, x.at(r.Low), y, x.at(r.High), y, x.at(r.Value), y)
		b.WriteString("</g>\n")
	}
	return b.String() + "</svg>\n"
}
