package proviso

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"iter"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	pb "github.com/proviso-legal/proviso/clients/go/gen/proviso/v1"
)

// turnIDKey is the initial metadata that names the turn ahead of its first event.
const turnIDKey = "proviso-turn-id"

// usualSilence is that of three heartbeats.
const usualSilence = 45 * time.Second

// Option changes how Chat and Resume read a turn.
type Option func(*reader)

// WithTries says how many tries in a row, none of which brought an event, are followed by another one: 10, which take
// about half a minute, unless it is given. The tries beyond that are up to five seconds apart.
func WithTries(tries int) Option {
	return func(r *reader) { r.retries.most = tries }
}

// WithSilence says how long a stream may be silent, heartbeats included, before it counts as cut: 45 seconds, three
// heartbeats, unless it is given. The time in which the caller handles an event does not count.
func WithSilence(limit time.Duration) Option {
	return func(r *reader) { r.silence = limit }
}

// Chat runs a turn and yields its events, each once and in order, up to the final state, which is the last. A stream
// that is cut, or a service that is not there for the moment, is taken up again where it ended. Heartbeats are left out.
//
// An error is yielded once, and last: FailureOf has its details. Leaving the loop, or the end of ctx, detaches this
// reader; what becomes of the turn then is on_disconnect's to say. A request without a request id is given one.
func Chat(
	ctx context.Context, stub pb.ChatServiceClient, request *pb.ChatRequest, options ...Option,
) iter.Seq2[*pb.AgentEvent, error] {
	request = proto.CloneOf(request)
	if request.GetRequestId() == "" {
		request.RequestId = rand.Text()
	}
	return func(yield func(*pb.AgentEvent, error) bool) {
		reader := newReader(stub, request.GetUserId(), yield, options)
		reader.chat, reader.leaveOut = request, request.GetOptions().GetLeaveOut()
		reader.run(ctx)
	}
}

// Resume yields the events of a turn that lie after request.after_sequence, as Chat does.
func Resume(
	ctx context.Context, stub pb.ChatServiceClient, request *pb.ResumeChatRequest, options ...Option,
) iter.Seq2[*pb.AgentEvent, error] {
	return func(yield func(*pb.AgentEvent, error) bool) {
		reader := newReader(stub, request.GetUserId(), yield, options)
		reader.turnID, reader.last = request.GetTurnId(), request.GetAfterSequence()
		reader.leaveOut = request.GetLeaveOut()
		reader.run(ctx)
	}
}

// reader follows one turn over as many streams as it takes.
type reader struct {
	stub     pb.ChatServiceClient
	chat     *pb.ChatRequest // nil where the turn's id was known from the start
	userID   string
	leaveOut *pb.LeaveOut
	yield    func(*pb.AgentEvent, error) bool
	turnID   string // empty until the service has told it
	last     int32  // sequence of the last event yielded
	silence  time.Duration
	retries  retries
}

func newReader(
	stub pb.ChatServiceClient, userID string, yield func(*pb.AgentEvent, error) bool, options []Option,
) *reader {
	reader := &reader{stub: stub, userID: userID, yield: yield, silence: usualSilence, retries: retries{most: usualTries}}
	for _, option := range options {
		option(reader)
	}
	return reader
}

func (r *reader) run(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // detaches the reader when the caller leaves the loop
	for {
		err := r.follow(ctx)
		if err == errNothing || FailureOf(err).Reason == ReasonTurnExpired && r.turnID != "" {
			err = r.end(ctx, err)
		}
		if err == nil {
			return
		}
		if err := r.wait(ctx, err); err != nil {
			r.yield(nil, err)
			return
		}
	}
}

// follow reads one stream; nil when there is nothing more to do: the final state was yielded, or the caller has left.
func (r *reader) follow(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	silence := time.AfterFunc(r.silence, func() { cancel(errSilent) })
	defer silence.Stop()
	stream, err := r.open(ctx)
	if err != nil {
		return cutOr(ctx, err)
	}
	resumed, after := r.turnID != "", r.last
	header, err := stream.Header()
	if ids := header.Get(turnIDKey); err == nil && len(ids) == 1 {
		r.turnID = ids[0]
	}
	for {
		silence.Reset(r.silence)
		event, err := stream.Recv()
		silence.Stop()
		if err == io.EOF && resumed && r.last == after {
			return errNothing
		}
		if err != nil {
			return cutOr(ctx, err)
		}
		r.retries.reset()
		// A final state is whole in itself, and may be all that is left of the turn.
		if event.GetHeartbeat() != nil || event.GetSequence() <= r.last && event.GetFinalState() == nil {
			continue
		}
		r.turnID, r.last = event.GetTurnId(), event.GetSequence()
		if !r.yield(event, nil) || event.GetFinalState() != nil {
			return nil
		}
	}
}

func (r *reader) open(ctx context.Context) (grpc.ServerStreamingClient[pb.AgentEvent], error) {
	if r.turnID == "" {
		return r.stub.Chat(ctx, r.chat)
	}
	return r.stub.ResumeChat(ctx, &pb.ResumeChatRequest{
		TurnId: r.turnID, AfterSequence: r.last, UserId: r.userID, LeaveOut: r.leaveOut,
	})
}

// end yields the stored final state of a turn of which nothing else is left: its events are no longer kept, for example
// because the service was started anew, and the sequence tells how many are lost; or the caller has them all. A turn
// that has not ended, or has events left, stays the failure it was.
func (r *reader) end(ctx context.Context, cause error) error {
	ctx, cancel := context.WithTimeout(ctx, r.silence)
	defer cancel()
	turn, err := r.stub.GetTurn(ctx, &pb.GetTurnRequest{TurnId: r.turnID, UserId: r.userID})
	if err != nil {
		return err
	}
	sequence := max(turn.GetLastSequence(), r.last+1)
	if cause == errNothing {
		sequence = turn.GetLastSequence()
	}
	if turn.GetFinalState() == nil || cause == errNothing && sequence > r.last {
		return cause
	}
	r.yield(&pb.AgentEvent{
		TurnId:   r.turnID,
		Sequence: sequence,
		Event:    &pb.AgentEvent_FinalState{FinalState: turn.GetFinalState()},
	}, nil)
	return nil
}

// wait returns when the turn can be taken up again after a failure, and an error when it cannot.
func (r *reader) wait(ctx context.Context, cause error) error {
	if ctx.Err() != nil {
		return status.FromContextError(ctx.Err()).Err()
	}
	failure := FailureOf(cause)
	if !mayPass(failure, r.turnID != "") {
		return cause
	}
	wait, ok := r.retries.next(failure.RetryDelay)
	if !ok {
		return cause
	}
	return pause(ctx, wait)
}

// errSilent is the failure of a stream that nothing came over for too long.
var errSilent = status.Error(codes.Unavailable, "the stream was silent for longer than heartbeats allow")

var (
	errEnded = status.Error(codes.Unavailable, "the stream ended before the turn's final state")
	// errNothing is the end of a stream that had no event behind the last one that the caller has.
	errNothing = status.Error(codes.Unavailable, "the stream ended before the turn's final state, without an event")
)

// cutOr turns silence, and an end without a final state, into the failure that it is.
func cutOr(ctx context.Context, err error) error {
	if context.Cause(ctx) == errSilent {
		return errSilent
	}
	if errors.Is(err, io.EOF) {
		return errEnded
	}
	return err
}
