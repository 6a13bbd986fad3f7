import { describe, expect, it } from "vitest";
import { AnswerFoot } from "../../src/chat/AnswerFoot.js";
import { AnswerText } from "../../src/chat/AnswerText.js";
import { newTurnView } from "../../src/chat/turn-view.js";
import { SideColumn } from "../../src/app/SideColumn.js";
import type { Citation } from "../../src/core/contract.js";
import { click, drawAll } from "../support/page.js";
import { citationOf, finalState } from "../support/turn-events.js";

const TOOL: Partial<Citation> = {
  kind: "CITATION_KIND_TOOL_CALL",
  number: 1,
  document_id: "",
  filename: "",
  call_id: "c1",
  name: "get_time",
  server_name: "time",
  quote: "12:00",
};
const REFERENCE: Partial<Citation> = {
  kind: "CITATION_KIND_REFERENCE",
  number: 0,
  document_id: "",
  filename: "",
  name: "House style",
  quote: "in plain English",
};
const IMAGE: Partial<Citation> = {
  kind: "CITATION_KIND_ASSET",
  number: 0,
  document_id: "",
  filename: "https://a.example/plan.png",
};

async function drawn(text: string, citation: Partial<Citation>): Promise<HTMLElement> {
  const cited = citationOf({ answer_start: 0, answer_end: text.length, ...citation });
  const { root } = await drawAll(
    <>
      <AnswerText text={text} citations={[cited]} isGrowing={false} />
      <SideColumn />
    </>,
  );
  return root;
}

describe("a source that is a document", () => {
  it.each(["m", "documentation"])("is opened where it is: %s", async (matterId) => {
    const cited = citationOf({ matter_id: matterId });
    const { root, navigation } = await drawAll(<AnswerText text="So" citations={[cited]} isGrowing={false} />);
    navigation.selectMatter({ matterId: "another", name: "" });
    await click(root, "Citation 1: nda.md");
    expect(navigation.openedDocument.value).toMatchObject({ matterId, documentId: "d" });
  });
});

describe("a source that is no document", () => {
  it.each([
    ["It is “12:00” [1]", TOOL, "It is “12:00” 1", "Citation 1: time:get_time", "time:get_time", "12:00"],
    [
      "Short words [House style]",
      REFERENCE,
      "Short words [House style]•",
      "Source: House style",
      "House style",
      "in plain English",
    ],
    [
      "The plan shows a door.",
      IMAGE,
      "The plan shows a door.•",
      "Source: https://a.example/plan.png",
      "plan.png",
      "no words",
    ],
  ])("is named and shown: %s", async (text, citation, shown, label, name, words) => {
    const root = await drawn(text, citation);
    expect(root.querySelector(".answer-text")?.textContent).toBe(shown);
    await click(root, label);
    expect(root.querySelector(".side h2")?.textContent).toContain(name);
    expect(root.querySelector(".side .panel-body")?.textContent).toContain(words);
  });

  it("of a kind that this page does not know is named too", async () => {
    const root = await drawn("So [1]", { ...TOOL, kind: "CITATION_KIND_LATER" as Citation["kind"], name: "Later" });
    await click(root, "Citation 1: time:Later");
    expect(root.querySelector(".side blockquote")?.textContent).toBe("12:00");
  });
});

const ignored = (): Promise<void> => Promise.resolve();

describe("what was left out of an answer", () => {
  it.each([
    [{ omitted_sentences: 1 }, "1 sentence was left out, because no source holds what the model wrote there."],
    [{ omitted_sentences: 3 }, "3 sentences were left out, because no source holds what the model wrote there."],
    [{ removed_markup: 2 }, "Images, web addresses or HTML that no source holds were taken out of it."],
    [{ message_truncated: true }, "The end of the answer was left out: it is longer than the service sends."],
  ])("is said in words: %o", async (state, words) => {
    const { root } = await drawAll(<AnswerFoot view={newTurnView("t")} end={finalState(state)} onRate={ignored} />);
    expect(root.textContent).toContain(words);
  });

  it("is not spoken of where nothing was", async () => {
    const { root } = await drawAll(<AnswerFoot view={newTurnView("t")} end={finalState()} onRate={ignored} />);
    expect(root.textContent).not.toMatch(/left out|taken out/);
  });
});
