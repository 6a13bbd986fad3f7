import { act } from "preact/test-utils";
import { afterEach, expect, it, vi } from "vitest";
import { MessageList } from "../../src/chat/MessageList.js";
import type { Call } from "../support/gateway.js";
import { gatewayWith, problemOf, streamOf } from "../support/gateway.js";
import { click, drawAll } from "../support/page.js";
import * as make from "../support/turn-events.js";

const PATH = "PUT /turns/turn-1/rating";
const ANSWER = () => streamOf(make.events(make.start, make.end({ message: "Oregon." })));

afterEach(() => {
  vi.unstubAllGlobals();
});

/** A page with one answer, whose rating is kept as it is sent. */
async function answered(rated: Record<string, unknown> = {}): Promise<{ root: HTMLElement; calls: Call[] }> {
  const calls = gatewayWith({
    "POST /chat": ANSWER,
    [PATH]: () => {
      const { rating } = calls.at(-1)?.body as { rating: string };
      return Response.json(rating === "RATING_UNSPECIFIED" ? {} : { rating: { reason: "", text: "", rating } });
    },
    ...rated,
  });
  const { root, conversation } = await drawAll((opened) => <MessageList conversation={opened} />);
  await act(() => conversation.current.peek().ask("Which law?", undefined));
  return { root, calls };
}

function pressed(root: HTMLElement): string[] {
  return Array.from(
    root.querySelectorAll(".thumbs [aria-pressed='true']"),
    (each) => each.getAttribute("aria-label") ?? "",
  );
}

it("an answer is rated, and a second click takes that back", async () => {
  const { root, calls } = await answered();
  expect(pressed(root)).toEqual([]);
  await click(root, "Good answer");
  expect(pressed(root)).toEqual(["Good answer"]);
  expect(root.querySelector(".rating-why")).toBeNull();
  await click(root, "Good answer");
  expect(pressed(root)).toEqual([]);
  const sent = calls.filter(({ route }) => route === PATH).map(({ body }) => body);
  expect(sent).toEqual([{ rating: "RATING_UP" }, { rating: "RATING_UNSPECIFIED" }]);
});

it("a poor answer is asked about, with a reason and words of one's own", async () => {
  const { root, calls } = await answered();
  await click(root, "Poor answer");
  expect(pressed(root)).toEqual(["Poor answer"]);
  const reason = root.querySelector("select");
  const words = root.querySelector("textarea");
  expect(document.activeElement).toBe(reason);
  if (!reason || !words) throw new Error("nothing is asked");
  reason.value = "RATING_REASON_INCOMPLETE";
  reason.dispatchEvent(new Event("change", { bubbles: true }));
  words.value = " No date ";
  words.dispatchEvent(new Event("input", { bubbles: true }));
  await click(root, "Send");
  expect(calls.at(-1)?.body).toEqual({
    rating: "RATING_DOWN",
    reason: "RATING_REASON_INCOMPLETE",
    text: "No date",
  });
  expect(root.querySelector(".rating-why")).toBeNull();
  expect(document.activeElement?.getAttribute("aria-label")).toBe("Poor answer");
});

it("a rating that could not be kept says why", async () => {
  const { root } = await answered({ [PATH]: () => problemOf(503, "The service is stopping") });
  await click(root, "Good answer");
  expect(root.querySelector(".answer-foot .error-note")?.textContent).toContain("The service is stopping");
  expect(pressed(root)).toEqual([]);
});
