package fleet

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"
)

// linesAMinute bounds what workers can make the process of a run log: so many lines at once, and then a minute.
const linesAMinute = 600

// sparing returns a logger that leaves out lines beyond linesAMinute, and says how many.
func sparing(log *slog.Logger, now func() time.Time) *slog.Logger {
	lines := rate.NewLimiter(rate.Every(time.Minute/linesAMinute), linesAMinute)
	return slog.New(&sparingHandler{Handler: log.Handler(), now: now, lines: lines})
}

type sparingHandler struct {
	slog.Handler
	now   func() time.Time
	lines *rate.Limiter
	left  atomic.Int64 // lines left out since the last one
}

// Handle implements slog.Handler.
func (h *sparingHandler) Handle(ctx context.Context, r slog.Record) error {
	if !h.lines.AllowN(h.now(), 1) {
		h.left.Add(1)
		return nil
	}
	if left := h.left.Swap(0); left > 0 {
		r.AddAttrs(slog.Int64("lines_left_out", left))
	}
	return h.Handler.Handle(ctx, r)
}
