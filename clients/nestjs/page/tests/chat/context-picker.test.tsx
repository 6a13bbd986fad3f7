import { afterEach, describe, expect, it, vi } from "vitest";
import { newExchange } from "../../src/chat/exchange.js";
import { TurnEnd } from "../../src/chat/TurnEnd.js";
import type { ContextProblem, MatterContext } from "../../src/core/contract.js";
import { gatewayWith } from "../support/gateway.js";
import { buttons, click, drawAll } from "../support/page.js";
import { finalState } from "../support/turn-events.js";

const ASKED: MatterContext = { matter_id: "m1", matter_name: "Leases", document_id: "d2", document_name: "lease.pdf" };

const PROCESSING = { document_id: "d2", filename: "lease.pdf", status: "DOCUMENT_STATUS_PROCESSING" };
const FAILED = { ...PROCESSING, status: "DOCUMENT_STATUS_FAILED" };
const OTHERS = [
  { document_id: "d1", filename: "annex.md", status: "DOCUMENT_STATUS_READY" },
  { document_id: "d3", filename: "broken.pdf", status: "DOCUMENT_STATUS_FAILED" },
  { document_id: "d4", filename: "later.md", status: "DOCUMENT_STATUS_PENDING" },
];

afterEach(() => {
  vi.unstubAllGlobals();
});

/** The end of a turn about the lease that had the problem, in a matter of these documents. */
async function ended(problem: ContextProblem, documents: object[] = OTHERS, next_page_token = "") {
  const calls = gatewayWith({
    "GET /matters/m1/documents": { documents, next_page_token },
    "GET /matters": { matters: [{ matter_id: "m1", name: "Leases" }], next_page_token },
  });
  const exchange = newExchange({ question: "What is the rent?", matterContext: ASKED });
  const end = finalState({ context_problem: problem });
  const drawn = await drawAll((conversation) => (
    <TurnEnd exchange={exchange} end={end} conversation={conversation} isLast />
  ));
  return { ...drawn, calls };
}

describe("a question about a document that cannot be asked about", () => {
  it("offers the document again, and the others, while it is being read", async () => {
    const { root } = await ended("CONTEXT_PROBLEM_DOCUMENT_PROCESSING", [...OTHERS, PROCESSING]);
    expect(root.querySelector("[role=group]")?.getAttribute("aria-label")).toBe("Ask about a document");
    expect(buttons(root)).toEqual(["lease.pdf", "The whole matter", "annex.md"]);
  });

  it.each([
    ["CONTEXT_PROBLEM_DOCUMENT_FAILED", [...OTHERS, FAILED]],
    ["CONTEXT_PROBLEM_DOCUMENT_NOT_FOUND", OTHERS],
  ] as const)("offers those that were read, for %s", async (problem, documents) => {
    const { root } = await ended(problem, [...documents]);
    expect(buttons(root)).toEqual(["The whole matter", "annex.md"]);
  });

  it("is asked again about the one that is chosen, which is selected", async () => {
    const { root, calls, navigation } = await ended("CONTEXT_PROBLEM_DOCUMENT_NOT_FOUND");
    await click(root, "annex.md");
    expect(calls.find(({ route }) => route === "POST /chat")?.body).toMatchObject({
      message: "What is the rent?",
      matter_context: { matter_id: "m1", document_id: "d1", document_name: "annex.md" },
    });
    expect(navigation.selectedMatter.value).toEqual({ matterId: "m1", name: "Leases" });
    expect(navigation.selectedDocument.value).toEqual({ documentId: "d1", name: "annex.md" });
  });
});

describe("a question about a matter that is not there", () => {
  it.each(["CONTEXT_PROBLEM_MATTER_REQUIRED", "CONTEXT_PROBLEM_MATTER_NOT_FOUND"] as const)(
    "offers the matters, for %s",
    async (problem) => {
      const { root } = await ended(problem);
      expect(root.querySelector("[role=group]")?.getAttribute("aria-label")).toBe("Ask about a matter");
      expect(buttons(root)).toEqual(["Leases"]);
      expect(root.textContent).not.toContain("There are more");
    },
  );

  it("is looked for again where the gateway did not answer", async () => {
    const answers: Record<string, unknown> = {};
    gatewayWith(answers);
    const exchange = newExchange({ question: "What is the rent?" });
    const end = finalState({ context_problem: "CONTEXT_PROBLEM_MATTER_REQUIRED" });
    const { root } = await drawAll((conversation) => (
      <TurnEnd exchange={exchange} end={end} conversation={conversation} isLast />
    ));
    expect(buttons(root)).toEqual(["Try again"]);
    answers["GET /matters"] = { matters: [{ matter_id: "m1", name: "Leases" }], next_page_token: "" };
    await click(root, "Try again");
    expect(buttons(root)).toEqual(["Leases"]);
    expect(root.querySelector("[role=alert]")).toBeNull();
  });

  it("says where the others are that are not offered", async () => {
    const { root } = await ended("CONTEXT_PROBLEM_MATTER_REQUIRED", [], "next");
    expect(root.textContent).toContain("There are more: select one on the left");
  });
});
