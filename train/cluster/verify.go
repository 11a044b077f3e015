package cluster

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"blockyard/train/selfplay"
)

// A verifier plays a share of the results again. Which ones, no worker can know; the run does not depend on it.
type verifier struct {
	share  float64 // of the results of slots, 0 to 1
	player *selfplay.Player

	began time.Time
	spent time.Duration
}

// mostVerifying is the share of its time that a learner verifies at most, unless it verifies everything: with many
// workers, whose results it would keep waiting, it verifies fewer.
const mostVerifying = 0.2

// check returns an error if the result of a task differs from what this process plays.
func (v *verifier) check(t *selfplay.Task, file []byte) error {
	if v.share < 1 && (rand.Float64() >= v.share || float64(v.spent) > mostVerifying*float64(time.Since(v.began))) {
		return nil
	}
	began := time.Now()
	ours, _, err := v.player.Play(context.Background(), t, t.Rollout.Net)
	v.spent += time.Since(began)
	if err != nil {
		return err
	}
	if !bytes.Equal(ours, file) {
		return fmt.Errorf("slot %d differs from what the learner plays", t.Slot)
	}
	return nil
}
