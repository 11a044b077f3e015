package search

import "blockyard/env"

// A line is a pair of own choices and the worth of where it leads.
type line struct {
	first  int // index of the first choice in the root's list
	second env.Action
	worth  float32
}

// ahead reports whether l comes before k, in an order that no two lines share.
func (l line) ahead(k line) bool {
	if l.worth != k.worth {
		return better(l.worth, k.worth)
	}
	return l.first < k.first || l.first == k.first && l.second < k.second
}

// lines keeps the width best lines it was offered, best first, equal ones by their
// choices. Its zero value keeps none.
type lines struct {
	width int
	best  []line
}

func (l *lines) clear() { l.best = l.best[:0] }

func (l *lines) offer(n line) {
	if len(l.best) < l.width {
		l.best = append(l.best, n)
	} else if l.width == 0 || !n.ahead(l.best[l.width-1]) {
		return
	} else {
		l.best[l.width-1] = n
	}
	for j := len(l.best) - 1; j > 0 && n.ahead(l.best[j-1]); j-- {
		l.best[j], l.best[j-1] = l.best[j-1], n
	}
}

// leads reports whether line k is the best of those that begin with its first choice.
func (l *lines) leads(k int) bool {
	for _, earlier := range l.best[:k] {
		if earlier.first == l.best[k].first {
			return false
		}
	}
	return true
}
