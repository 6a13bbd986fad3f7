package proviso

import (
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	pb "github.com/proviso-legal/proviso/clients/go/gen/proviso/v1"
)

// domain is that of the service's own reasons; a proxy may have others.
const domain = "proviso.v1"

// Reasons that a program acts on; errors.proto has all of them.
const (
	ReasonSessionBusy = "SESSION_BUSY" // Metadata["turn_id"] is the turn to Resume
	ReasonTurnExpired = "TURN_EXPIRED" // GetTurn still has the final state
	ReasonTooBusy     = "TOO_BUSY"     // RetryDelay says when to try again
)

// Violation is what is wrong with a field of a request.
type Violation struct {
	Field       string
	Description string
}

// Failure is an error of a call with its google.rpc details; what the service did not send is empty.
type Failure struct {
	Code         codes.Code
	Message      string
	Reason       string            // machine-readable cause: an ErrorReason without its prefix
	Metadata     map[string]string // facts that belong to the reason
	Violations   []Violation       // of an InvalidArgument: every field at fault
	RetryDelay   time.Duration     // how long to wait before trying again
	ResourceType string            // of a NotFound: what there is none of
	ResourceName string
	Faults       []*pb.IqlError // of an InvalidIql: where the query is wrong, and what would correct it
}

// FailureOf reads the details of an error that a stub or an iterator of this package returned.
func FailureOf(err error) Failure {
	sent := status.Convert(err)
	failure := Failure{Code: sent.Code(), Message: sent.Message()}
	for _, detail := range sent.Details() {
		switch detail := detail.(type) {
		case *errdetails.ErrorInfo:
			if detail.GetDomain() == domain {
				failure.Reason, failure.Metadata = detail.GetReason(), detail.GetMetadata()
			}
		case *errdetails.BadRequest:
			for _, violation := range detail.GetFieldViolations() {
				failure.Violations = append(failure.Violations, Violation{violation.GetField(), violation.GetDescription()})
			}
		case *errdetails.RetryInfo:
			failure.RetryDelay = detail.GetRetryDelay().AsDuration()
		case *pb.IqlFaults:
			failure.Faults = detail.GetErrors()
		case *errdetails.ResourceInfo:
			failure.ResourceType, failure.ResourceName = detail.GetResourceType(), detail.GetResourceName()
		}
	}
	return failure
}
