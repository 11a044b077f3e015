// Package selfplaytest helps to test what plays the rollouts of a run.
package selfplaytest

import (
	"context"
	"encoding/json"

	"blockyard/train/selfplay"
)

// A Loopback is a selfplay.Remote that plays every task in this process, through the form in which it
// would travel, and the slots in an order of its own.
type Loopback struct {
	Player *selfplay.Player
	Order  []int // of slots; all of them
	Bytes  int   // of the results
}

// Play implements selfplay.Remote.
func (l *Loopback) Play(ctx context.Context, r *selfplay.Run, ro selfplay.Rollout) ([]*selfplay.Slot, error) {
	file, id, err := selfplay.NetFile(ro.Net)
	if err != nil {
		return nil, err
	}
	net, err := selfplay.ParseNet(file)
	if err != nil {
		return nil, err
	}
	slots := make([]*selfplay.Slot, len(r.Slots))
	for _, i := range l.Order {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		start, err := r.Slots[i].Save()
		if err != nil {
			return nil, err
		}
		sent := &selfplay.Task{Iteration: r.Counts.Iterations, Slot: i, Rollout: ro, Net: id, Start: start}
		text, err := json.Marshal(sent)
		if err != nil {
			return nil, err
		}
		var got selfplay.Task
		if err := json.Unmarshal(text, &got); err != nil {
			return nil, err
		}
		file, _, err := l.Player.Play(ctx, &got, net)
		if err != nil {
			return nil, err
		}
		l.Bytes += len(file)
		if slots[i], err = l.Player.Decode(sent, file); err != nil {
			return nil, err
		}
	}
	return slots, nil
}
