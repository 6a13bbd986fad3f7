package proviso

import (
	"errors"
	"reflect"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	pb "github.com/proviso-legal/proviso/clients/go/gen/proviso/v1"
)

func TestTheDetailsOfAnErrorAreRead(t *testing.T) {
	sent, err := status.New(codes.InvalidArgument, "no").WithDetails(
		&errdetails.ErrorInfo{
			Reason: "INVALID_REQUEST", Domain: "proviso.v1", Metadata: map[string]string{"turn_id": "t1"},
		},
		&errdetails.BadRequest{FieldViolations: []*errdetails.BadRequest_FieldViolation{
			{Field: "message", Description: "too long"}, {Field: "user_id", Description: "too long"},
		}},
		&errdetails.RetryInfo{RetryDelay: durationpb.New(1500 * time.Millisecond)},
		&errdetails.ResourceInfo{ResourceType: "turn", ResourceName: "t1"},
	)
	if err != nil {
		t.Fatal(err)
	}
	want := Failure{
		Code: codes.InvalidArgument, Message: "no", Reason: "INVALID_REQUEST", Metadata: map[string]string{"turn_id": "t1"},
		Violations: []Violation{{"message", "too long"}, {"user_id", "too long"}}, RetryDelay: 1500 * time.Millisecond,
		ResourceType: "turn", ResourceName: "t1",
	}
	if got := FailureOf(sent.Err()); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestAnErrorWithoutDetailsIsStillAFailure(t *testing.T) {
	if got := FailureOf(errors.New("dull")); got.Code != codes.Unknown || got.Message != "dull" || got.Reason != "" {
		t.Errorf("got %+v", got)
	}
}

func TestOnlyWhatMayPassIsTriedAgain(t *testing.T) {
	tests := []struct {
		failure Failure
		begun   bool
		want    bool
	}{
		{Failure{Code: codes.Unavailable, Reason: "DRAINING"}, false, true},
		{Failure{Code: codes.ResourceExhausted, Reason: ReasonTooBusy, RetryDelay: time.Second}, false, true},
		{Failure{Code: codes.ResourceExhausted, Reason: "QUOTA_EXCEEDED", RetryDelay: time.Second}, false, false},
		{Failure{Code: codes.ResourceExhausted, Reason: ReasonTooBusy, RetryDelay: time.Second}, true, true},
		{Failure{Code: codes.ResourceExhausted}, true, false},
		{Failure{Code: codes.Internal}, true, true},
		{Failure{Code: codes.Internal}, false, false},
		{Failure{Code: codes.Unknown}, true, true},
		{Failure{Code: codes.Canceled}, false, true},
		{Failure{Code: codes.DeadlineExceeded}, true, true},
		{Failure{Code: codes.DeadlineExceeded, Reason: "DEADLINE_EXCEEDED"}, true, false},
		{Failure{Code: codes.Internal, Reason: "INTERNAL"}, true, false},
		{Failure{Code: codes.InvalidArgument, Reason: "INVALID_REQUEST"}, true, false},
	}
	for _, test := range tests {
		if got := mayPass(test.failure, test.begun); got != test.want {
			t.Errorf("%+v, begun %v: %v", test.failure, test.begun, got)
		}
	}
}

func TestWaitsGrowToABoundAndEnd(t *testing.T) {
	tries := retries{most: 8}
	var longest time.Duration
	for try := range tries.most {
		wait, ok := tries.next(0)
		low := min(firstWait<<try, longestWait) / 2
		if !ok || wait < low || wait > 2*low {
			t.Fatalf("try %d waits %v (%v), want %v to %v", try, wait, ok, low, 2*low)
		}
		longest = max(longest, wait)
	}
	if _, ok := tries.next(0); ok || longest > longestWait {
		t.Errorf("tries do not end, or waited %v", longest)
	}
	tries.reset()
	if wait, ok := tries.next(time.Minute); !ok || wait != time.Minute {
		t.Errorf("waits %v where the service asked for a minute", wait)
	}
}

func TestWaitsStayBoundedHoweverManyTriesThereAre(t *testing.T) {
	tries := retries{most: 100}
	for try := range tries.most {
		if wait, ok := tries.next(0); !ok || wait <= 0 || wait > longestWait {
			t.Fatalf("try %d waits %v (%v)", try, wait, ok)
		}
	}
}

func TestAReasonOfAnotherDomainIsNotTakenForOurs(t *testing.T) {
	sent, err := status.New(codes.Unavailable, "no healthy upstream").WithDetails(
		&errdetails.ErrorInfo{Reason: "TOO_BUSY", Domain: "mesh.example", Metadata: map[string]string{"host": "a"}},
	)
	if err != nil {
		t.Fatal(err)
	}
	if got := FailureOf(sent.Err()); got.Code != codes.Unavailable || got.Reason != "" || got.Metadata != nil {
		t.Errorf("got %+v", got)
	}
}

func token(id, text string) *pb.AgentEvent {
	return &pb.AgentEvent{Event: &pb.AgentEvent_Token{Token: &pb.Token{TextId: id, Text: text}}}
}

func TestDiscardedTextIsGone(t *testing.T) {
	var text Text
	discarded := &pb.AgentEvent_TextDiscarded{TextDiscarded: &pb.TextDiscarded{TextId: "a"}}
	for _, event := range []*pb.AgentEvent{
		token("a", "I thi"), token("a", "nk"), {Event: discarded}, token("b", "Oregon"), token("b", " [1]"),
	} {
		text.Add(event)
	}
	if got := text.String(); got != "Oregon [1]" {
		t.Errorf("got %q", got)
	}
}

func TestOffsetsCountCodePoints(t *testing.T) {
	if got := Slice("a\U0001F600e\u0301契約", 1, 5); got != "\U0001F600e\u0301契" {
		t.Errorf("got %q", got)
	}
}
