package fleet

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// linesAMinute bounds what workers can make the process of a run log.
const linesAMinute = 600

// sparing returns a logger that leaves out lines beyond so many a minute, and says how many.
func sparing(log *slog.Logger, now func() time.Time) *slog.Logger {
	return slog.New(&sparingHandler{Handler: log.Handler(), now: now})
}

type sparingHandler struct {
	slog.Handler
	now func() time.Time

	mu    sync.Mutex
	began time.Time // of this minute
	lines int       // in it
}

// Handle implements slog.Handler.
func (h *sparingHandler) Handle(ctx context.Context, r slog.Record) error {
	h.mu.Lock()
	now, left := h.now(), 0
	if now.Sub(h.began) >= time.Minute {
		left = h.lines - linesAMinute
		h.began, h.lines = now, 0
	}
	h.lines++
	out := h.lines > linesAMinute
	h.mu.Unlock()
	if left > 0 {
		r.AddAttrs(slog.Int("lines_left_out", left))
	}
	if out {
		return nil
	}
	return h.Handler.Handle(ctx, r)
}
