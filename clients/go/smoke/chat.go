package main

import (
	"context"
	"flag"
	"time"

	"google.golang.org/grpc"

	pb "github.com/proviso-legal/proviso/clients/go/gen/proviso/v1"
	"github.com/proviso-legal/proviso/clients/go/proviso"
)

// chatter asks the same question in rounds, each a turn of its own.
type chatter struct {
	chat    pb.ChatServiceClient
	tools   pb.ToolServiceClient
	matter  string
	message string
	user    string
	limit   time.Duration
	tries   int
}

func chat(connection *grpc.ClientConn, arguments []string) error {
	c := chatter{chat: pb.NewChatServiceClient(connection), tools: pb.NewToolServiceClient(connection)}
	flags := flag.NewFlagSet("chat", flag.ContinueOnError)
	flags.StringVar(&c.matter, "matter", "", "matter to ask about")
	flags.StringVar(&c.message, "message", "", "question")
	flags.StringVar(&c.user, "user", "", "user who asks")
	flags.DurationVar(&c.limit, "limit", time.Minute, "time limit of a round")
	flags.IntVar(&c.tries, "tries", 10, "tries in a row that may bring nothing")
	rounds := flags.Int("rounds", 1, "turns, one after the other")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	for round := range *rounds {
		if err := c.ask(round); err != nil {
			return err
		}
	}
	return nil
}

// ask prints the events of a turn, then what became of it.
func (c *chatter) ask(round int) error {
	ctx, cancel := context.WithTimeout(context.Background(), c.limit)
	defer cancel()
	// Without the cache, from which an answer would come whole instead of in tokens.
	options := &pb.ChatOptions{DisableCache: true}
	request := &pb.ChatRequest{Message: c.message, UserId: c.user, Options: options}
	if c.matter != "" {
		request.MatterContext = &pb.MatterContext{MatterId: c.matter}
	}
	var text proviso.Text
	for event, err := range proviso.Chat(ctx, c.chat, request, proviso.WithTries(c.tries)) {
		if err != nil {
			return report(round, err)
		}
		if err := put(seen(round, event)); err != nil {
			return err
		}
		text.Add(event)
		if final := event.GetFinalState(); final != nil {
			return c.finish(ctx, round, &text, final)
		}
	}
	return nil
}

func seen(round int, event *pb.AgentEvent) line {
	first := event.GetSequence()
	if token := event.GetToken(); token != nil {
		first = token.GetFirstSequence()
	}
	return line{
		"line": "event", "round": round, "turn_id": event.GetTurnId(), "kind": kindOf(event),
		"first": first, "sequence": event.GetSequence(), "tool": event.GetToolStart().GetTool(),
	}
}

// kindOf is the field that the event is in, empty for one of a later version of the contract.
func kindOf(event *pb.AgentEvent) string {
	step := event.ProtoReflect()
	field := step.WhichOneof(step.Descriptor().Oneofs().ByName("event"))
	if field == nil {
		return ""
	}
	return string(field.Name())
}

// finish prints the final state with, for each citation, the text that its offsets stand for.
func (c *chatter) finish(ctx context.Context, round int, text *proviso.Text, final *pb.FinalState) error {
	citations := []line{}
	for _, citation := range final.GetCitations() {
		if citation.GetKind() != pb.CitationKind_CITATION_KIND_DOCUMENT {
			continue // there is no text to look it up in
		}
		document, err := c.tools.GetDocumentText(ctx, &pb.GetDocumentTextRequest{
			MatterId: c.matter, Document: &pb.GetDocumentTextRequest_DocumentId{DocumentId: citation.GetDocumentId()},
		})
		if err != nil {
			return report(round, err)
		}
		citations = append(citations, line{
			"quote":  citation.GetQuote(),
			"source": proviso.Slice(document.GetText(), citation.GetStart(), citation.GetEnd()),
			"answer": proviso.Slice(final.GetMessage(), citation.GetAnswerStart(), citation.GetAnswerEnd()),
		})
	}
	return put(line{
		"line": "final", "round": round, "exit_reason": final.GetExitReason().String(),
		"retryable": final.GetRetryable().String(), "text": text.String(), "message": final.GetMessage(),
		"citations": citations,
	})
}
