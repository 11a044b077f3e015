package entry

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The options that are no numbers.
const (
	weightsOption = "weights" // a file
	timeOption    = "time"    // a duration
)

// An Option is one that a search takes: a whole number from 1 to Max, or, named "time", a
// limit for one choice. Every search takes "weights" besides, a file of weights for its judge.
type Option struct {
	Name string
	Max  int
}

// Time is the option of a limit for one choice.
var Time = Option{Name: timeOption}

// Options are those that a spec gives. What it leaves out is zero.
type Options struct {
	Weights string // a file
	Time    time.Duration
	Numbers map[string]int
}

// ParseOptions reads a comma-separated list of key=value, such as "ply=2,time=50ms".
func (s *Search) ParseOptions(text string) (Options, error) {
	o := Options{Numbers: map[string]int{}}
	if text == "" {
		return o, nil
	}
	for _, part := range strings.Split(text, ",") {
		key, value, _ := strings.Cut(part, "=")
		if err := s.parse(&o, key, value); err != nil {
			return o, err
		}
	}
	return o, nil
}

func (s *Search) parse(o *Options, key, value string) (err error) {
	options := append([]Option{{Name: weightsOption}}, s.Options...)
	i := slices.IndexFunc(options, func(option Option) bool { return option.Name == key })
	switch {
	case i < 0:
		known := make([]string, len(options))
		for k, option := range options {
			known[k] = option.Name
		}
		slices.Sort(known)
		return fmt.Errorf("unknown option %.40q; there are %s", key, strings.Join(known, ", "))
	case key == weightsOption:
		if o.Weights = value; value == "" {
			err = errors.New("no file is named")
		}
	case key == timeOption:
		if o.Time, err = time.ParseDuration(value); err == nil && o.Time <= 0 {
			err = fmt.Errorf("%v: want more than 0", o.Time)
		}
	default:
		o.Numbers[key], err = number(value, options[i].Max)
	}
	if err != nil {
		err = fmt.Errorf("option %s: %w", key, err)
	}
	return err
}

// number reads a whole number from 1 to most.
func number(text string, most int) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > most {
		return 0, fmt.Errorf("%.40q is not a number from 1 to %d", text, most)
	}
	return n, nil
}
