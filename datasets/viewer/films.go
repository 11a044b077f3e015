package viewer

import (
	"fmt"
	"slices"
	"sync"
)

// maxFilms is how many games are kept open. The least recently used one is closed first.
const maxFilms = 6

// films are the open games.
type films struct {
	mu   sync.Mutex
	held []*held // most recently used last
}

// A held is an open film. One request at a time uses it.
type held struct {
	id    string
	gen   string
	mu    sync.Mutex
	film  film
	entry *entry
	shown entry // for the page
	err   error
}

// open returns the entry's film, locked.
func (o *films) open(l *Library, e *entry) (*held, error) {
	l.mu.Lock()
	now := *e
	l.mu.Unlock()
	h := o.find(&now)
	h.mu.Lock()
	if h.film == nil && h.err == nil {
		h.entry = &now
		h.film, h.err = now.film()
	}
	if h.err != nil {
		h.mu.Unlock()
		o.drop(h) // the next request tries again
		return nil, h.err
	}
	h.entry.changed, h.entry.open, h.shown = now.changed, now.open, now
	return h, nil
}

// find returns the film of an entry, an empty one if it is not open.
func (o *films) find(e *entry) *held {
	o.mu.Lock()
	defer o.mu.Unlock()
	gen := fmt.Sprintf("%d.%d", e.version, e.offset)
	for k, h := range o.held {
		if h.id == e.ID && h.gen == gen {
			copy(o.held[k:], o.held[k+1:])
			o.held[len(o.held)-1] = h
			return h
		}
	}
	h := &held{id: e.ID, gen: gen}
	if o.held = append(o.held, h); len(o.held) > maxFilms {
		o.held = slices.Delete(o.held, 0, 1)
	}
	return h
}

func (o *films) drop(h *held) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.held = slices.DeleteFunc(o.held, func(other *held) bool { return other == h })
}
