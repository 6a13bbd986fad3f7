package proviso

import (
	"context"
	"errors"
	"io"

	pb "proviso/clients/go/gen/proviso/v1"
)

const pieceBytes = 256 * 1024

// Upload sends a document and returns it as stored; reading and indexing go on, see WatchDocuments. Repeating a failed
// upload is safe: the same bytes are the same document.
func Upload(
	ctx context.Context, stub pb.MatterServiceClient, header *pb.UploadHeader, content io.Reader,
) (*pb.UploadDocumentResponse, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // ends the call when content cannot be read
	stream, err := stub.UploadDocument(ctx)
	if err != nil {
		return nil, err
	}
	err = send(stream, header, content)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	// When the service refuses an upload early, sending ends in io.EOF and the reason comes with the answer.
	return stream.CloseAndRecv()
}

type uploadStream interface {
	Send(*pb.UploadDocumentRequest) error
}

func send(stream uploadStream, header *pb.UploadHeader, content io.Reader) error {
	first := &pb.UploadDocumentRequest{Payload: &pb.UploadDocumentRequest_Header{Header: header}}
	if err := stream.Send(first); err != nil {
		return err
	}
	buffer := make([]byte, pieceBytes)
	for {
		size, err := io.ReadFull(content, buffer)
		if size > 0 {
			data := &pb.UploadDocumentRequest_Data{Data: buffer[:size]}
			if err := stream.Send(&pb.UploadDocumentRequest{Payload: data}); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			end := &pb.UploadDocumentRequest_End{End: &pb.UploadEnd{}}
			return stream.Send(&pb.UploadDocumentRequest{Payload: end})
		}
		if err != nil {
			return err
		}
	}
}
