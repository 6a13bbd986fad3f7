package proviso

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"testing"
	"testing/iotest"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	pb "github.com/proviso-legal/proviso/clients/go/gen/proviso/v1"
)

// shelf keeps what is uploaded whole, and refuses everything where told to.
type shelf struct {
	pb.UnimplementedMatterServiceServer
	refusal error
	ended   chan error // how each upload ended
	kept    []byte
}

func (s *shelf) UploadDocument(
	stream grpc.ClientStreamingServer[pb.UploadDocumentRequest, pb.UploadDocumentResponse],
) error {
	if s.refusal != nil {
		return s.refusal
	}
	err := s.read(stream)
	s.ended <- err
	return err
}

func (s *shelf) read(stream grpc.ClientStreamingServer[pb.UploadDocumentRequest, pb.UploadDocumentResponse]) error {
	var received []byte
	for {
		request, err := stream.Recv()
		if err != nil {
			return err
		}
		if request.GetEnd() != nil {
			s.kept = received
			return stream.SendAndClose(&pb.UploadDocumentResponse{Document: &pb.Document{}})
		}
		received = append(received, request.GetData()...)
	}
}

func newShelf(t *testing.T, refusal error) (*shelf, pb.MatterServiceClient) {
	t.Helper()
	shelf := &shelf{refusal: refusal, ended: make(chan error, 1)}
	connection := connect(t, func(running *grpc.Server) { pb.RegisterMatterServiceServer(running, shelf) })
	return shelf, pb.NewMatterServiceClient(connection)
}

func TestADocumentArrivesWholeHoweverItIsRead(t *testing.T) {
	document := bytes.Repeat([]byte("The rent is due. "), 40_000)
	readers := map[string]io.Reader{
		"in one":             bytes.NewReader(document),
		"in halves":          iotest.HalfReader(bytes.NewReader(document)),
		"with its last data": iotest.DataErrReader(bytes.NewReader(document)),
		"empty":              bytes.NewReader(nil),
	}
	for name, content := range readers {
		t.Run(name, func(t *testing.T) {
			shelf, stub := newShelf(t, nil)
			if _, err := Upload(t.Context(), stub, &pb.UploadHeader{}, content); err != nil {
				t.Fatal(err)
			}
			want := document
			if name == "empty" {
				want = nil
			}
			if !bytes.Equal(shelf.kept, want) {
				t.Errorf("%d bytes arrived of %d", len(shelf.kept), len(want))
			}
		})
	}
}

func TestAnUploadWhoseContentBreaksOffIsNotEnded(t *testing.T) {
	gone := fmt.Errorf("the disk is gone: %w", io.EOF)
	for _, cause := range []error{errors.New("the disk is gone"), io.ErrUnexpectedEOF, gone} {
		t.Run(cause.Error(), func(t *testing.T) {
			shelf, stub := newShelf(t, nil)
			content := io.MultiReader(bytes.NewReader([]byte("The rent")), iotest.ErrReader(cause))
			if _, err := Upload(t.Context(), stub, &pb.UploadHeader{}, content); err != cause {
				t.Errorf("failed with %v, want %v", err, cause)
			}
			if err := <-shelf.ended; err == nil {
				t.Errorf("%q was kept as a whole document", shelf.kept)
			}
		})
	}
}

func TestAnUploadThatIsRefusedSaysWhy(t *testing.T) {
	_, stub := newShelf(t, status.Error(codes.NotFound, "no such matter"))
	endless := io.MultiReader(bytes.NewReader(make([]byte, 1<<22)), bytes.NewReader(make([]byte, 1<<22)))
	_, err := Upload(t.Context(), stub, &pb.UploadHeader{}, endless)
	if got := FailureOf(err); got.Code != codes.NotFound || got.Message != "no such matter" {
		t.Errorf("got %+v", got)
	}
}
