package proviso

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	pb "github.com/proviso-legal/proviso/clients/go/gen/proviso/v1"
)

const lastSequence = 5

// errHush stands for a stream that falls silent and stays open.
var errHush = errors.New("hush")

var cut = status.Error(codes.Unavailable, "cut")

// stored stands for a turn of which the final state is left, as the event of this sequence.
type stored int32

func (stored) Error() string { return "stored" }

// visit is what the server does with one stream: it sends so many events, then ends with the error.
type visit struct {
	events int
	err    error
}

// server has one turn of five events, and plays its visits in order.
type server struct {
	pb.UnimplementedChatServiceServer
	visits   []visit
	left     int     // silent streams whose reader has gone
	asked    []int32 // after_sequence of each stream; -1 for Chat
	leftOut  []bool  // whether each stream does without tool output
	requests []string
}

func (s *server) Chat(request *pb.ChatRequest, stream grpc.ServerStreamingServer[pb.AgentEvent]) error {
	s.asked, s.requests = append(s.asked, -1), append(s.requests, request.GetRequestId())
	s.leftOut = append(s.leftOut, request.GetOptions().GetLeaveOut().GetToolOutput())
	if s.visits[0].events < 0 { // not even the turn's id gets through
		return s.play(0, nil)
	}
	if err := stream.SendHeader(metadata.Pairs(turnIDKey, "t1")); err != nil {
		return err
	}
	return s.play(0, stream)
}

func (s *server) ResumeChat(request *pb.ResumeChatRequest, stream grpc.ServerStreamingServer[pb.AgentEvent]) error {
	s.asked = append(s.asked, request.GetAfterSequence())
	s.leftOut = append(s.leftOut, request.GetLeaveOut().GetToolOutput())
	return s.play(request.GetAfterSequence(), stream)
}

func (s *server) GetTurn(context.Context, *pb.GetTurnRequest) (*pb.GetTurnResponse, error) {
	return &pb.GetTurnResponse{TurnId: "t1", LastSequence: lastSequence, FinalState: &pb.FinalState{}}, nil
}

func (s *server) play(after int32, stream grpc.ServerStreamingServer[pb.AgentEvent]) error {
	visit := s.visits[0]
	s.visits = s.visits[1:]
	for sequence := after + 1; sequence <= after+int32(visit.events); sequence++ {
		if err := stream.Send(step(sequence)); err != nil {
			return err
		}
	}
	if sequence, ok := visit.err.(stored); ok {
		end := &pb.AgentEvent_FinalState{FinalState: &pb.FinalState{}}
		return stream.Send(&pb.AgentEvent{TurnId: "t1", Sequence: int32(sequence), Event: end})
	}
	if visit.err == errHush {
		<-stream.Context().Done()
		s.left++
	}
	return visit.err
}

func step(sequence int32) *pb.AgentEvent {
	event := &pb.AgentEvent{TurnId: "t1", Sequence: sequence}
	if sequence == lastSequence {
		event.Event = &pb.AgentEvent_FinalState{FinalState: &pb.FinalState{}}
	}
	return event
}

// serve returns a stub of a server on a connection in memory.
func serve(t *testing.T, server *server) pb.ChatServiceClient {
	t.Helper()
	return pb.NewChatServiceClient(connect(t, func(running *grpc.Server) {
		pb.RegisterChatServiceServer(running, server)
	}))
}

func withReason(code codes.Code, reason string) error {
	plain := status.New(code, "refused")
	detailed, err := plain.WithDetails(&errdetails.ErrorInfo{Reason: reason, Domain: "proviso.v1"})
	if err != nil {
		panic(err)
	}
	return detailed.Err()
}

func TestATurnIsTakenUpWhereItsStreamEnded(t *testing.T) {
	reset, stopped := status.Error(codes.Internal, ""), status.Error(codes.Canceled, "CANCELLED")
	expired := withReason(codes.NotFound, ReasonTurnExpired)
	whole := []int32{1, 2, 3, 4, 5}
	tests := map[string]struct {
		visits []visit
		asked  []int32
		seen   []int32
	}{
		"whole":                          {[]visit{{5, nil}}, []int32{-1}, whole},
		"cut in the middle":              {[]visit{{2, cut}, {3, nil}}, []int32{-1, 2}, whole},
		"cut again and again":            {[]visit{{1, cut}, {1, cut}, {0, cut}, {3, nil}}, []int32{-1, 1, 2, 2}, whole},
		"cut before its first event":     {[]visit{{0, cut}, {5, nil}}, []int32{-1, 0}, whole},
		"cut before its id":              {[]visit{{-1, cut}, {5, nil}}, []int32{-1, -1}, whole},
		"ended without its final state":  {[]visit{{2, nil}, {3, nil}}, []int32{-1, 2}, whole},
		"reset by a proxy":               {[]visit{{2, reset}, {3, nil}}, []int32{-1, 2}, whole},
		"cancelled by a stopping server": {[]visit{{-1, stopped}, {2, stopped}, {3, nil}}, []int32{-1, -1, 2}, whole},
		"its events are no longer there": {[]visit{{2, cut}, {0, expired}}, []int32{-1, 2}, []int32{1, 2, 5}},
		"its end is all that is left":    {[]visit{{2, cut}, {0, stored(5)}}, []int32{-1, 2}, []int32{1, 2, 5}},
		"its end was never counted":      {[]visit{{2, cut}, {0, stored(1)}}, []int32{-1, 2}, []int32{1, 2, 1}},
		"nothing but its end is left":    {[]visit{{0, stored(5)}}, []int32{-1}, []int32{5}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			server := &server{visits: test.visits}
			var seen []int32
			for event, err := range Chat(t.Context(), serve(t, server), &pb.ChatRequest{Message: "Hello"}) {
				if err != nil {
					t.Fatal(err)
				}
				seen = append(seen, event.GetSequence())
			}
			if !slices.Equal(seen, test.seen) || !slices.Equal(server.asked, test.asked) {
				t.Errorf("saw %v, want %v; asked after %v, want %v", seen, test.seen, server.asked, test.asked)
			}
			if len(slices.Compact(server.requests)) != 1 || server.requests[0] == "" {
				t.Errorf("request ids %q, want one, so that no second turn begins", server.requests)
			}
		})
	}
}

func TestATurnThatWasSeenToItsEndGivesItsFinalState(t *testing.T) {
	for after, asked := range map[int32][]int32{lastSequence: {lastSequence}, lastSequence - 1: {4, 4}} {
		server := &server{visits: []visit{{0, nil}, {1, nil}}}
		request := &pb.ResumeChatRequest{TurnId: "t1", AfterSequence: after}
		var seen []int32
		for event, err := range Resume(t.Context(), serve(t, server), request) {
			if err != nil || event.GetFinalState() == nil {
				t.Fatalf("%v, %v", event, err)
			}
			seen = append(seen, event.GetSequence())
		}
		if !slices.Equal(seen, []int32{lastSequence}) || !slices.Equal(server.asked, asked) {
			t.Errorf("after %d: saw %v after asking %v", after, seen, server.asked)
		}
	}
}

func TestWhatIsLeftOutIsLeftOutAfterACutToo(t *testing.T) {
	server := &server{visits: []visit{{2, cut}, {3, nil}, {2, cut}, {3, nil}}}
	stub, leaveOut := serve(t, server), &pb.LeaveOut{ToolOutput: true}
	request := &pb.ChatRequest{Message: "Hello", Options: &pb.ChatOptions{LeaveOut: leaveOut}}
	for _, err := range Chat(t.Context(), stub, request) {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, err := range Resume(t.Context(), stub, &pb.ResumeChatRequest{TurnId: "t1", LeaveOut: leaveOut}) {
		if err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(server.leftOut, []bool{true, true, true, true}) {
		t.Errorf("left out %v", server.leftOut)
	}
}

func TestAFaultOfTheServiceIsNotTriedAgain(t *testing.T) {
	server := &server{visits: []visit{{2, withReason(codes.Internal, "INTERNAL")}}}
	var failures []Failure
	for _, err := range Resume(t.Context(), serve(t, server), &pb.ResumeChatRequest{TurnId: "t1", AfterSequence: 1}) {
		if err != nil {
			failures = append(failures, FailureOf(err))
		}
	}
	if len(failures) != 1 || failures[0].Reason != "INTERNAL" || !slices.Equal(server.asked, []int32{1}) {
		t.Errorf("failures %v after asking %v", failures, server.asked)
	}
}

func TestThereIsAnEndToTriesThatBringNothing(t *testing.T) {
	server := &server{visits: []visit{{2, cut}, {0, cut}, {0, cut}}}
	var last error
	for _, err := range Chat(t.Context(), serve(t, server), &pb.ChatRequest{Message: "Hello"}, WithTries(2)) {
		last = err
	}
	if FailureOf(last).Code != codes.Unavailable || !slices.Equal(server.asked, []int32{-1, 2, 2}) {
		t.Errorf("ended in %v after asking %v", last, server.asked)
	}
}

func TestASilentStreamIsCutAndTakenUpAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &server{visits: []visit{{0, errHush}, {2, errHush}, {0, errHush}, {3, nil}}}
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		var seen []int32
		started := time.Now()
		for event, err := range Chat(ctx, serve(t, server), &pb.ChatRequest{Message: "Hello"}) {
			if err != nil {
				t.Fatal(err)
			}
			seen = append(seen, event.GetSequence())
		}
		if !slices.Equal(seen, []int32{1, 2, 3, 4, 5}) || !slices.Equal(server.asked, []int32{-1, 0, 2, 2}) {
			t.Errorf("saw %v after asking %v", seen, server.asked)
		}
		if took := time.Since(started); took < 3*usualSilence || took > 4*usualSilence {
			t.Errorf("three silences took %v", took)
		}
		if synctest.Wait(); server.left != 3 {
			t.Errorf("%d of 3 silent calls have ended on the server", server.left)
		}
	})
}

func TestSilenceThatDoesNotEndIsAFailureOfItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &server{visits: []visit{{2, errHush}, {0, errHush}}}
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		started := time.Now()
		var last error
		options := []Option{WithSilence(20 * time.Second), WithTries(1)}
		for _, err := range Chat(ctx, serve(t, server), &pb.ChatRequest{Message: "Hello"}, options...) {
			last = err
		}
		if got := FailureOf(last); got.Code != codes.Unavailable || !strings.Contains(got.Message, "silent") {
			t.Errorf("ended in %+v", got)
		}
		if took := time.Since(started); took < 40*time.Second || took > 45*time.Second {
			t.Errorf("two silences took %v", took)
		}
	})
}

func TestACallerWhoTakesItsTimeIsNoSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &server{visits: []visit{{5, nil}}}
		for _, err := range Chat(t.Context(), serve(t, server), &pb.ChatRequest{Message: "Hello"}) {
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(2 * usualSilence)
		}
		if len(server.asked) != 1 {
			t.Errorf("asked %v", server.asked)
		}
	})
}

func TestTheContextEndsTheWaitForATurn(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	server := &server{visits: []visit{{2, cut}, {0, cut}, {0, cut}}}
	var last error
	for _, err := range Chat(ctx, serve(t, server), &pb.ChatRequest{Message: "Hello"}) {
		last = err
	}
	if got := FailureOf(last).Code; got != codes.DeadlineExceeded {
		t.Errorf("ended in %v, want DeadlineExceeded", got)
	}
}

func TestLeavingTheLoopEndsTheReading(t *testing.T) {
	server := &server{visits: []visit{{5, nil}}}
	seen := 0
	for range Chat(t.Context(), serve(t, server), &pb.ChatRequest{Message: "Hello"}) {
		seen++
		break
	}
	if seen != 1 {
		t.Errorf("saw %d events after leaving at the first", seen)
	}
}
