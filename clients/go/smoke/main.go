// Smoke drives a running service the way a Go back end does, and prints what it sees as JSON lines for a test to read.
//
//	smoke -address localhost:50051 chat -matter ID -message "What is the governing law?"
//	smoke -address localhost:50051 upload -matter ID -file agreement.md
//	smoke -address localhost:50051 turn -id ID
//	smoke -address localhost:50051 -ca ca.pem caller -user ID
//
// With -ca it sends the token in the variable PROVISO_TOKEN.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	pb "github.com/proviso-legal/proviso/clients/go/gen/proviso/v1"
	"github.com/proviso-legal/proviso/clients/go/proviso"
)

// callLimit bounds a call that is not a turn.
const callLimit = time.Minute

var errUsage = errors.New("usage: smoke [-address host:port] [-ca file] chat|upload|turn|caller [flags]")

func main() {
	log.SetFlags(0)
	address := flag.String("address", "localhost:50051", "address of the service")
	ca := flag.String("ca", "", "authorities of the service's certificate; no TLS without")
	flag.Parse()
	if err := run(*address, *ca, flag.Args()); err != nil {
		log.Fatal(err)
	}
}

func run(address, ca string, arguments []string) error {
	if len(arguments) == 0 {
		return errUsage
	}
	security, err := securityOf(ca)
	if err != nil {
		return err
	}
	connection, err := grpc.NewClient(address, append(proviso.DialOptions(), security...)...)
	if err != nil {
		return err
	}
	defer connection.Close()
	switch name, rest := arguments[0], arguments[1:]; name {
	case "chat":
		return chat(connection, rest)
	case "upload":
		return upload(connection, rest)
	case "turn":
		return turn(connection, rest)
	case "caller":
		return caller(connection, rest)
	default:
		return fmt.Errorf("%w: no command %q", errUsage, name)
	}
}

func securityOf(ca string) ([]grpc.DialOption, error) {
	if ca == "" {
		return []grpc.DialOption{grpc.WithTransportCredentials(insecure.NewCredentials())}, nil
	}
	encrypted, err := proviso.WithTLS(proviso.TLSFiles{CA: ca})
	return []grpc.DialOption{encrypted, proviso.WithToken(os.Getenv("PROVISO_TOKEN"))}, err
}

func upload(connection *grpc.ClientConn, arguments []string) error {
	flags := flag.NewFlagSet("upload", flag.ContinueOnError)
	matter := flags.String("matter", "", "matter to upload to")
	path := flags.String("file", "", "document to upload")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	file, err := os.Open(*path)
	if err != nil {
		return err
	}
	defer file.Close()
	ctx, cancel := context.WithTimeout(context.Background(), callLimit)
	defer cancel()
	header := &pb.UploadHeader{MatterId: *matter, Filename: filepath.Base(*path)}
	stored, err := proviso.Upload(ctx, pb.NewMatterServiceClient(connection), header, file)
	if err != nil {
		return report(0, err)
	}
	document := stored.GetDocument()
	return put(line{
		"line": "document", "sha256": document.GetSha256(), "size_bytes": document.GetSizeBytes(),
		"already_existed": stored.GetAlreadyExisted(),
	})
}

func turn(connection *grpc.ClientConn, arguments []string) error {
	flags := flag.NewFlagSet("turn", flag.ContinueOnError)
	id := flags.String("id", "", "turn to ask for")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), callLimit)
	defer cancel()
	found, err := pb.NewChatServiceClient(connection).GetTurn(ctx, &pb.GetTurnRequest{TurnId: *id})
	if err != nil {
		return report(0, err)
	}
	return put(line{"line": "turn", "state": found.GetState().String(), "last_sequence": found.GetLastSequence()})
}

func caller(connection *grpc.ClientConn, arguments []string) error {
	flags := flag.NewFlagSet("caller", flag.ContinueOnError)
	user := flags.String("user", "", "user to act for")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), callLimit)
	defer cancel()
	if *user != "" {
		ctx = proviso.ForUser(ctx, *user)
	}
	found, err := pb.NewAccessServiceClient(connection).GetCaller(ctx, &pb.GetCallerRequest{})
	if err != nil {
		return report(0, err)
	}
	return put(line{"line": "caller", "tenant": found.GetTenant(), "user_id": found.GetUserId()})
}

// line is one line of output.
type line map[string]any

func put(content line) error {
	return json.NewEncoder(os.Stdout).Encode(content)
}

// report prints what a failed call told.
func report(round int, err error) error {
	failure := proviso.FailureOf(err)
	return put(line{
		"line": "failure", "round": round, "code": failure.Code.String(), "reason": failure.Reason,
		"message": failure.Message, "metadata": failure.Metadata, "violations": failure.Violations,
		"retry_delay_s": failure.RetryDelay.Seconds(), "resource_type": failure.ResourceType,
		"resource_name": failure.ResourceName,
	})
}
