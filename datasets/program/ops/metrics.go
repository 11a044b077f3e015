package ops

import (
	"reflect"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// A Collector is metrics for Start.
type Collector = prometheus.Collector

// Info returns a metric that is always 1 and says in its labels what is to be known, such as the version.
func Info(name, help string, labels map[string]string) Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help, ConstLabels: labels},
		func() float64 { return 1 })
}

// Metrics returns what add adds at a scrape, in goroutines of the site. It should read from one snapshot.
func Metrics(prefix string, add func(*Scrape)) Collector { return &metrics{prefix, add} }

type metrics struct {
	prefix string
	add    func(*Scrape)
}

// Describe implements Collector. It says nothing, because which labels there are is only known at a scrape.
func (*metrics) Describe(chan<- *prometheus.Desc) {}

func (m *metrics) Collect(to chan<- prometheus.Metric) { m.add(&Scrape{m.prefix, to}) }

type Scrape struct {
	prefix string
	to     chan<- prometheus.Metric
}

// Add adds the value of a metric: a number, or a time.Duration in seconds; a name in _total is a counter's. labels are
// names and values in turn.
func (s *Scrape) Add(name, help string, value any, labels ...string) {
	kind := prometheus.GaugeValue
	if strings.HasSuffix(name, "_total") {
		kind = prometheus.CounterValue
	}
	number := reflect.ValueOf(value).Convert(reflect.TypeFor[float64]()).Float()
	if d, ok := value.(time.Duration); ok {
		number = d.Seconds()
	}
	var names, values []string
	for k := 0; k < len(labels); k += 2 {
		names, values = append(names, labels[k]), append(values, labels[k+1])
	}
	desc := prometheus.NewDesc(s.prefix+name, help, names, nil)
	s.to <- prometheus.MustNewConstMetric(desc, kind, number, values...)
}

// AddDurations adds a histogram of count durations, sum in all. buckets says how many are at most so many seconds.
func (s *Scrape) AddDurations(name, help string, count uint64, sum time.Duration, buckets map[float64]uint64) {
	desc := prometheus.NewDesc(s.prefix+name, help, nil, nil)
	s.to <- prometheus.MustNewConstHistogram(desc, count, sum.Seconds(), buckets)
}
