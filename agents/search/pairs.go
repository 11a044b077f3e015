package search

import "blockyard/env"

// A pair is two own actions in a row and the value of the position they lead to.
type pair struct {
	first  int // index of the first action in the root's list
	second env.Action
	value  float32
}

// ahead reports whether p is better than q. Ties are broken by the actions, so that the order of any two pairs is
// defined.
func (p pair) ahead(q pair) bool {
	if p.value != q.value {
		return better(p.value, q.value)
	}
	return p.first < q.first || p.first == q.first && p.second < q.second
}

// bestPairs keeps the best pairs that were offered, at most width, the best first. The zero value keeps none.
type bestPairs struct {
	width int
	list  []pair
}

func (b *bestPairs) offer(p pair) {
	if len(b.list) < b.width {
		b.list = append(b.list, p)
	} else if b.width == 0 || !p.ahead(b.list[b.width-1]) {
		return
	} else {
		b.list[b.width-1] = p
	}
	for j := len(b.list) - 1; j > 0 && p.ahead(b.list[j-1]); j-- {
		b.list[j], b.list[j-1] = b.list[j-1], p
	}
}

// leads reports whether pair k is the best of those with the same first action.
func (b *bestPairs) leads(k int) bool {
	for _, p := range b.list[:k] {
		if p.first == b.list[k].first {
			return false
		}
	}
	return true
}
