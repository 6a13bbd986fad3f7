package proviso

import (
	"context"
	"errors"
	"io"

	"google.golang.org/grpc"

	pb "github.com/proviso-legal/proviso/clients/go/gen/proviso/v1"
)

const pieceBytes = 256 * 1024

// Upload sends a document and returns it as stored; reading and indexing go on, see WatchDocuments. Repeating a failed
// upload is safe: the same bytes are the same document. Where content fails on the way, with io.ErrUnexpectedEOF as a
// body that was cut off does, its error is returned and nothing is stored.
func Upload(
	ctx context.Context, stub pb.MatterServiceClient, header *pb.UploadHeader, content io.Reader,
) (*pb.UploadDocumentResponse, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // ends the call when content cannot be read
	stream, err := stub.UploadDocument(ctx)
	if err != nil {
		return nil, err
	}
	err = send(sender{stream}, header, content)
	if err != nil && !errors.Is(err, errAnswered) {
		return nil, err
	}
	return stream.CloseAndRecv()
}

// errAnswered ends the sending of an upload that the service has refused early: the reason comes with the answer.
var errAnswered = errors.New("the service has answered before the end of the upload")

func send(stream sender, header *pb.UploadHeader, content io.Reader) error {
	first := &pb.UploadDocumentRequest_Header{Header: header}
	if err := stream.send(&pb.UploadDocumentRequest{Payload: first}); err != nil {
		return err
	}
	buffer := make([]byte, pieceBytes)
	for {
		size, err := fill(buffer, content)
		if size > 0 {
			data := &pb.UploadDocumentRequest_Data{Data: buffer[:size]}
			if err := stream.send(&pb.UploadDocumentRequest{Payload: data}); err != nil {
				return err
			}
		}
		if err == io.EOF { // itself: one that is wrapped tells of something else
			end := &pb.UploadDocumentRequest_End{End: &pb.UploadEnd{}}
			return stream.send(&pb.UploadDocumentRequest{Payload: end})
		}
		if err != nil {
			return err
		}
	}
}

// fill reads until the buffer is full or the reader fails. Unlike io.ReadFull it does not say io.ErrUnexpectedEOF of a
// last piece that is short, which could not be told from a reader that was cut off.
func fill(buffer []byte, content io.Reader) (int, error) {
	size := 0
	for size < len(buffer) {
		read, err := content.Read(buffer[size:])
		size += read
		if err != nil {
			return size, err
		}
	}
	return size, nil
}

type sender struct {
	stream grpc.ClientStreamingClient[pb.UploadDocumentRequest, pb.UploadDocumentResponse]
}

func (s sender) send(request *pb.UploadDocumentRequest) error {
	err := s.stream.Send(request)
	if err == io.EOF {
		return errAnswered
	}
	return err
}
