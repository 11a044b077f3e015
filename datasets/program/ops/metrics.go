package ops

import (
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

// A Set is metrics that are read from one snapshot of type T, so that they agree with each other. Add all
// metrics before the Set is registered.
type Set[T any] struct {
	take    func() T
	metrics []metric[T]
}

type metric[T any] struct {
	desc *prometheus.Desc
	send func(*prometheus.Desc, *T, chan<- prometheus.Metric)
}

// A Sample is a value of a metric with labels.
type Sample struct {
	Value  float64
	Labels []string // in the order of the metric's
}

// A Histogram counts durations.
type Histogram struct {
	Count   uint64
	Sum     time.Duration
	Buckets map[float64]uint64 // how many durations are at most so many seconds
}

// NewSet returns a Set without metrics. take returns the snapshot of a scrape; goroutines of the site call it.
func NewSet[T any](take func() T) *Set[T] { return &Set[T]{take: take} }

// Counter adds a counter.
func (s *Set[T]) Counter(name, help string, value func(*T) float64) {
	s.add(name, help, nil, prometheus.CounterValue, func(t *T) []Sample { return []Sample{{Value: value(t)}} })
}

// Gauge adds a gauge.
func (s *Set[T]) Gauge(name, help string, value func(*T) float64) {
	s.add(name, help, nil, prometheus.GaugeValue, func(t *T) []Sample { return []Sample{{Value: value(t)}} })
}

// Counters adds a counter with labels.
func (s *Set[T]) Counters(name, help string, labels []string, values func(*T) []Sample) {
	s.add(name, help, labels, prometheus.CounterValue, values)
}

// Gauges adds a gauge with labels.
func (s *Set[T]) Gauges(name, help string, labels []string, values func(*T) []Sample) {
	s.add(name, help, labels, prometheus.GaugeValue, values)
}

// Histogram adds a histogram of durations.
func (s *Set[T]) Histogram(name, help string, value func(*T) Histogram) {
	send := func(d *prometheus.Desc, t *T, to chan<- prometheus.Metric) {
		h := value(t)
		to <- prometheus.MustNewConstHistogram(d, h.Count, h.Sum.Seconds(), h.Buckets)
	}
	s.metrics = append(s.metrics, metric[T]{prometheus.NewDesc(name, help, nil, nil), send})
}

// PerName returns the samples of a metric with one label, the name of each element of a snapshot.
func PerName[T, E any](elements func(*T) []E, name func(*E) string, value func(*E) float64) func(*T) []Sample {
	return func(t *T) (all []Sample) {
		of := elements(t)
		for k := range of {
			all = append(all, Sample{Value: value(&of[k]), Labels: []string{name(&of[k])}})
		}
		return all
	}
}

func (s *Set[T]) add(name, help string, labels []string, kind prometheus.ValueType, values func(*T) []Sample) {
	send := func(d *prometheus.Desc, t *T, to chan<- prometheus.Metric) {
		for _, v := range values(t) {
			to <- prometheus.MustNewConstMetric(d, kind, v.Value, v.Labels...)
		}
	}
	s.metrics = append(s.metrics, metric[T]{prometheus.NewDesc(name, help, labels, nil), send})
}

// Describe implements Collector.
func (s *Set[T]) Describe(to chan<- *prometheus.Desc) {
	for _, m := range s.metrics {
		to <- m.desc
	}
}

// Collect implements Collector.
func (s *Set[T]) Collect(to chan<- prometheus.Metric) {
	now := s.take()
	for _, m := range s.metrics {
		m.send(m.desc, &now, to)
	}
}
