package proviso

import (
	"context"
	"math/rand/v2"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

const (
	firstWait   = 100 * time.Millisecond
	longestWait = 5 * time.Second
	usualTries  = 10 // in a row without a new event: about half a minute
	doublings   = 10 // more than it takes from the first wait to the longest
)

// retries counts the tries since the last event.
type retries struct{ made, most int }

// next is how long to wait before the next try; false when there have been enough. asked is the wait that the service
// asked for, zero when it did not.
func (r *retries) next(asked time.Duration) (time.Duration, bool) {
	if r.made >= r.most {
		return 0, false
	}
	wait := min(firstWait<<min(r.made, doublings), longestWait)
	r.made++
	// With jitter, so that callers cut off together do not all come back together.
	return max(wait/2+rand.N(wait/2), asked), true
}

func (r *retries) reset() { r.made = 0 }

// pause waits, or returns the context's end as a status.
func pause(ctx context.Context, wait time.Duration) error {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return status.FromContextError(ctx.Err()).Err()
	}
}

// mayPass says whether a failed stream can be taken up again; begun, whether its turn is known to run. Before that the
// request is sent again, which is safe: it carries a request id.
func mayPass(failure Failure, begun bool) bool {
	switch failure.Code {
	case codes.Unavailable:
		return true
	case codes.Canceled, codes.DeadlineExceeded:
		// Not the caller's context, which has not ended: a server that stopped, or a proxy that allows a stream so much time.
		return failure.Reason == ""
	case codes.ResourceExhausted:
		// A used-up quota may last a day: only a turn that has begun is worth waiting for it.
		return failure.RetryDelay > 0 && (begun || failure.Reason == ReasonTooBusy)
	case codes.Internal, codes.Unknown:
		// The service gives every error of its own a reason; this one is of a proxy that reset the stream. Before the turn
		// has begun it could as well be a request that cannot be sent.
		return begun && failure.Reason == ""
	default:
		return false
	}
}
