import { describe, expect, it } from "vitest";
import type { TurnEvent } from "../../src/core/contract.js";
import { answerText, newTurnView, withDecided, withEvent, withPending } from "../../src/chat/turn-view.js";
import type { TurnView } from "../../src/chat/turn-view.js";
import * as make from "../support/turn-events.js";

function viewOf(events: readonly TurnEvent[]): TurnView {
  return events.reduce(withEvent, newTurnView());
}

describe("the view of a turn", () => {
  it("grows with the tokens", () => {
    const texts = make
      .events(make.start, make.token("Either "), make.token("party"))
      .map((_, index, all) => answerText(viewOf(all.slice(0, index + 1))));
    expect(texts).toEqual(["", "Either ", "Either party"]);
  });

  it("loses a text that is discarded, and keeps the others", () => {
    const view = viewOf(
      make.events(make.start, make.token("Let me look.", "a"), make.token("Thirty days.", "b"), make.discarded("a")),
    );
    expect(answerText(view)).toBe("Thirty days.");
  });

  it("has a call from its start to its end", () => {
    const all = make.events(
      make.start,
      make.toolStart("c1"),
      make.toolStart("c2"),
      make.toolEnd("c1", { duration_ms: 12 }),
    );
    expect(viewOf(all).calls).toMatchObject([
      { callId: "c1", isRunning: false, durationMs: 12 },
      { callId: "c2", isRunning: true },
    ]);
  });

  it("has no running call once the turn has ended", () => {
    const view = viewOf(
      make.events(make.start, make.toolStart("c1"), make.end({ exit_reason: "EXIT_REASON_CANCELLED" })),
    );
    expect(view.calls[0]?.isRunning).toBe(false);
  });

  it("takes the text, citations and context of the final state", () => {
    const citation = make.citationOf({ number: 1, quote: "thirty days" });
    const view = viewOf(
      make.events(
        make.start,
        make.token("draft"),
        make.cited({ number: 9 }),
        make.end({ message: "Final.", citations: [citation] }),
      ),
    );
    expect(answerText(view)).toBe("Final.");
    expect(view.citations).toEqual([citation]);
    expect(view.requestContext).toEqual(make.CONTEXT);
  });

  it("shows no text where the end is not for display", () => {
    const view = viewOf(make.events(make.start, make.token("half a sen"), make.end({ display_message: false })));
    expect(answerText(view)).toBe("");
  });

  it("is the same when events come twice, as after a resumption", () => {
    const all = make.events(
      make.start,
      make.token("a ", "x"),
      make.toolStart("c1"),
      make.toolEnd("c1"),
      make.discarded("x"),
      make.token("b ", "y"),
      make.token("c", "y"),
      make.end({ message: "b c" }),
    );
    for (let cut = 0; cut <= all.length; cut += 1) {
      for (let back = 0; back <= cut; back += 1) {
        expect(viewOf([...all.slice(0, cut), ...all.slice(back)])).toEqual(viewOf(all));
      }
    }
  });

  it.each([9, 3, 1])("ends with a stored end, which may be all that is left of the turn (sequence %i)", (sequence) => {
    const before = make.events(make.start, make.token("half"), make.toolStart("c1"));
    const view = withEvent(viewOf(before), make.end({ message: "Whole." })(sequence));
    expect(answerText(view)).toBe("Whole.");
    expect(withEvent(view, make.end({ message: "Again." })(12))).toBe(view);
  });

  it("waits for approvals until their calls start", () => {
    const all = make.events(make.start, make.approval("c1"), make.approval("c2"), make.toolStart("c1"));
    expect(viewOf(all).approvals.map(({ call_id }) => call_id)).toEqual(["c2"]);
    expect(withDecided(viewOf(all), "c2").approvals).toEqual([]);
  });

  it("drops approvals that were decided elsewhere, but none that the answer cannot know of", () => {
    const view = viewOf(make.events(make.start, make.approval("c1"), make.approval("c2"), make.approval("c3")));
    const pending = view.approvals.filter(({ call_id }) => call_id === "c2");
    const turn = { turn_id: "turn-1", state: "TURN_STATE_AWAITING_APPROVAL" as const, last_sequence: 3 };
    const left = withPending(view, { ...turn, pending_approvals: pending }).approvals;
    expect(left.map(({ call_id }) => call_id)).toEqual(["c2", "c3"]);
  });
});
