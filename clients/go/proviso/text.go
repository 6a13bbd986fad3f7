package proviso

import (
	"slices"
	"strings"

	pb "github.com/proviso-legal/proviso/clients/go/gen/proviso/v1"
)

// Text puts the text of a turn together while it is streamed. The zero value is empty. FinalState.message has the last
// word: it equals the text at the end, or replaces it.
type Text struct{ parts []part }

type part struct{ id, text string }

// Add takes the next event; those that concern no text change nothing.
func (t *Text) Add(event *pb.AgentEvent) {
	switch step := event.GetEvent().(type) {
	case *pb.AgentEvent_Token:
		t.parts = append(t.parts, part{step.Token.GetTextId(), step.Token.GetText()})
	case *pb.AgentEvent_TextDiscarded:
		discarded := step.TextDiscarded.GetTextId()
		t.parts = slices.DeleteFunc(t.parts, func(p part) bool { return p.id == discarded })
	}
}

// String is the text so far, without what was discarded.
func (t *Text) String() string {
	var joined strings.Builder
	for _, part := range t.parts {
		joined.WriteString(part.text)
	}
	return joined.String()
}

// Slice is the part of a text between two offsets of the contract, which count code points; end is exclusive. It
// panics, as slicing does, when they lie outside the text.
func Slice(text string, start, end int32) string {
	return string([]rune(text)[start:end])
}
