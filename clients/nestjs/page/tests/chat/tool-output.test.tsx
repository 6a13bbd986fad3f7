import { act } from "preact/test-utils";
import { afterEach, expect, it, vi } from "vitest";
import { SourcePanel } from "../../src/chat/SourcePanel.js";
import { ToolActivity } from "../../src/chat/ToolActivity.js";
import { newTurnView, withEvent } from "../../src/chat/turn-view.js";
import { gatewayWith, problemOf, streamOf } from "../support/gateway.js";
import { drawAll } from "../support/page.js";
import { end, events, start, toolEnd, toolStart } from "../support/turn-events.js";

const EVENTS = "GET /turns/turn-1/events";
const TOLD = events(
  start,
  toolStart("c1"),
  toolEnd("c1", { output: "first" }),
  toolStart("c2"),
  toolEnd("c2", { output: "second", truncated: true }),
  end(),
);

afterEach(() => {
  vi.unstubAllGlobals();
});

async function loaded(root: HTMLElement): Promise<void> {
  await vi.waitFor(() => {
    expect(root.textContent).not.toContain("Loading");
  });
}

async function opened(): Promise<HTMLElement> {
  const { calls } = TOLD.reduce(withEvent, newTurnView("turn-1"));
  const { root } = await drawAll(<ToolActivity turnId="turn-1" calls={calls} />);
  const line = root.querySelectorAll("details")[1];
  await act(() => {
    if (line) line.open = true;
    line?.dispatchEvent(new Event("toggle"));
  });
  await loaded(root);
  return root;
}

it("what a tool returned is read when its line is opened, and nothing else of the turn", async () => {
  const asked = gatewayWith({ [EVENTS]: () => streamOf(TOLD) });
  const root = await opened();
  expect(Array.from(root.querySelectorAll(".call-output"), ({ textContent }) => textContent)).toEqual(["second"]);
  expect(root.textContent).toContain("longer than what is shown");
  const reads = asked.filter(({ route }) => route === EVENTS);
  expect(reads).toHaveLength(1);
  expect(reads[0]?.query).toEqual({ leave_out: "repeated_contexts,history,told,context_items" });
});

it("a turn whose events are gone has no results of tools any more", async () => {
  const gone = () => Response.json({ title: "Gone", status: 410, reason: "TURN_EXPIRED" }, { status: 410 });
  for (const answer of [gone, () => streamOf(events(end()))]) {
    gatewayWith({ [EVENTS]: answer });
    expect((await opened()).textContent).toContain("What the tool returned is no longer kept.");
  }
});

it("a failure to read it is told, with a way to try again", async () => {
  gatewayWith({ [EVENTS]: () => problemOf(503, "Away") });
  expect((await opened()).textContent).toMatch(/Away.*Try again/);
});

it("all that a cited tool returned is beside the cited words", async () => {
  gatewayWith({ [EVENTS]: () => streamOf(TOLD) });
  const source = { name: "get_time", kind: "Result of a tool", quote: "12", call: { turnId: "turn-1", callId: "c1" } };
  const { root } = await drawAll(<SourcePanel source={source} />);
  await loaded(root);
  expect(root.querySelector(".call-output")?.textContent).toBe("first");
});
