import { describe, expect, it } from "vitest";
import { answerBlocks } from "../../src/chat/answer-blocks.js";
import type { Block, Inline } from "../../src/chat/answer-blocks.js";
import type { Citation } from "../../src/core/contract.js";
import { citationOf } from "../support/turn-events.js";

/** The blocks in short: cited words in ⟨⟩ with their number, buttons as #1, bold in **, code in `. */
function shown(blocks: Block[]): string[] {
  return blocks.flatMap((block) =>
    block.kind === "list"
      ? block.items.map((item, index) => `${block.isOrdered ? `${block.first + index}.` : "-"} ${line(item)}`)
      : [`${{ paragraph: "", heading: "# ", quote: "> " }[block.kind]}${line(block.content)}`],
  );
}

function line(content: Inline[]): string {
  return content.map(inline).join("");
}

function inline(inline: Inline): string {
  if (inline.kind === "cite") return `#${inline.citation.number}`;
  const look = inline.isBold ? `**${inline.text}**` : inline.isCode ? `\`${inline.text}\`` : inline.text;
  return inline.cited === undefined ? look : `⟨${look}⟩${inline.cited}`;
}

/** A citation of the words, from their first to the end of the mark behind them; offsets in code points. */
function citing(text: string, words: string, number = 1): Citation {
  const from = text.indexOf(words);
  const to = text.indexOf(`[${number}]`, from) + `[${number}]`.length;
  const points = (at: number): number => Array.from(text.slice(0, at)).length;
  return citationOf({ number, answer_start: points(from), answer_end: points(to) });
}

describe("an answer", () => {
  it.each([
    ["paragraphs", "One.\nstill one\n\nTwo.", ["One.\nstill one", "Two."]],
    [
      "a list",
      "Two ways:\n- first\n- second\n  and more\n\nEnd.",
      ["Two ways:", "- first", "- second\n  and more", "End."],
    ],
    ["a numbered list", "3. three\n4. four", ["3. three", "4. four"]],
    ["a list with gaps", "- a\n\n- b", ["- a", "- b"]],
    ["a heading", "# Notice\nThirty days.", ["# Notice", "Thirty days."]],
    ["a quotation", "It says:\n> Thirty\n> days.\nSo.", ["It says:", "> Thirty\ndays.", "So."]],
    ["bold and code", "a **b c** `d` ** e", ["a **b c** `d` ** e"]],
    ["nothing", "\n \n", []],
  ])("has %s", (_, text, blocks) => {
    expect(shown(answerBlocks(text, []))).toEqual(blocks);
  });

  it("has a citation's button in the place of its mark, and its words marked", () => {
    const text = "It says “thirty days” [1]. No more.";
    expect(shown(answerBlocks(text, [citing(text, "“thirty")]))).toEqual(["It says ⟨“thirty days” ⟩1#1. No more."]);
  });

  it("finds the range behind emoji, with and without the gateway's UTF-16", () => {
    const text = "👩‍⚖️👍 Yes: “𝕏 days” [1] and “two” [2].";
    const [one, two] = [citing(text, "“𝕏", 1), citing(text, "“two", 2)];
    const expected = ["👩‍⚖️👍 Yes: ⟨“𝕏 days” ⟩1#1 and ⟨“two” ⟩2#2."];
    expect(shown(answerBlocks(text, [one, two]))).toEqual(expected);
    const start = text.indexOf("“𝕏");
    const utf16 = { ...one, answer_start: 0, answer_end: 0, answer_utf16: { start, end: text.indexOf("[1]") + 3 } };
    expect(shown(answerBlocks(text, [utf16, two]))).toEqual(expected);
  });

  it("has a button for a citation whose mark is not there", () => {
    const citation = citationOf({ number: 1, answer_start: 0, answer_end: 4 });
    expect(shown(answerBlocks("Yes. No.", [citation]))).toEqual(["⟨Yes.⟩1#1 No."]);
  });

  it("has every citation once, in lists, bold words and at the end", () => {
    const text = "- **“one” [1]**\n- “two” [2] [3]\n\nlast [4]";
    const all = [citing(text, "“one", 1), citing(text, "“two", 2), citing(text, "[3]", 3), citing(text, "last", 4)];
    expect(shown(answerBlocks(text, all))).toEqual(["- ⟨**“one” **⟩1#1", "- ⟨“two” ⟩2#2 #3", "⟨last ⟩4#4"]);
  });

  it("leaves a mark alone that belongs to no citation", () => {
    expect(shown(answerBlocks("see [7]", []))).toEqual(["see [7]"]);
  });

  it("keeps markup as words", () => {
    const text = '<img src=x onerror="alert(1)"> <b>b</b> [a](javascript:alert(1))';
    expect(shown(answerBlocks(text, []))).toEqual([text]);
  });
});
