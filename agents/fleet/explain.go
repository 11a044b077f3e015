package fleet

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// noRoom are the error codes of JetStream that mean that there is no room.
var noRoom = []jetstream.ErrorCode{
	10002, // resources of the account exceeded
	10023, // insufficient resources
	10028, // memory
	10047, // storage resources exceeded
	10077, // message store failed
	10122, // maximum bytes of the stream's limit
}

// explain adds to an error of JetStream what the user can do about it, if it knows.
func explain(err error) error {
	var api *jetstream.APIError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &api) && slices.Contains(noRoom, api.ErrorCode):
		return fmt.Errorf("the broker has no room to store messages: free space on its disk, or allow it more; "+
			"then continue the run with --resume (%w)", err)
	case errors.Is(err, nats.ErrTimeout), errors.Is(err, context.DeadlineExceeded),
		errors.Is(err, jetstream.ErrAsyncPublishTimeout):
		return fmt.Errorf("the broker does not confirm messages; if its disk is full, see its log, free space and start it "+
			"again; then continue the run with --resume (%w)", err)
	case errors.Is(err, jetstream.ErrJetStreamNotEnabled), errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount),
		errors.Is(err, nats.ErrNoResponders):
		return fmt.Errorf("the broker offers no JetStream: start nats-server with --jetstream; "+
			"a broker whose disk is full switches it off (%w)", err)
	}
	return err
}
