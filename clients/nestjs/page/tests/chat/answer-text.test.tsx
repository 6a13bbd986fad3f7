import { describe, expect, it } from "vitest";
import { AnswerText } from "../../src/chat/AnswerText.js";
import { draw } from "../support/page.js";
import { citationOf } from "../support/turn-events.js";

const MARKUP = `<img src=x onerror="alert(1)"><script>alert(2)</script> & <b>no</b> ![x](https://elsewhere.test/) [y](https://elsewhere.test/)`;

describe("the text of an answer", () => {
  it("shows markup as the words that it is", () => {
    const { root } = draw(<AnswerText text={`- ${MARKUP}\n\n> ${MARKUP}`} citations={[]} isGrowing={false} />);
    expect(root.querySelectorAll("img, script, b, a")).toHaveLength(0);
    expect(root.querySelector("li")?.textContent).toBe(MARKUP);
    expect(root.querySelector("blockquote")?.textContent).toBe(MARKUP);
  });

  it("has a citation's button on the line of the word before it", () => {
    const text = "It says “thirty days” [1].";
    const citation = citationOf({ number: 1, answer_start: 8, answer_end: 25, heading: "2. Notice", page: 3 });
    const { root } = draw(<AnswerText text={text} citations={[citation]} isGrowing={false} />);
    const button = root.querySelector("button");
    expect(button?.getAttribute("aria-label")).toBe("Citation 1: nda.md, 2. Notice, page 3");
    expect(button?.parentElement?.textContent).toBe("days” 1");
    expect(root.textContent).toBe("It says “thirty days” 1.");
  });

  it("has each of several citations at one place", () => {
    const text = "So [1] [2].";
    const all = [
      citationOf({ number: 1, answer_start: 0, answer_end: 6 }),
      citationOf({ number: 2, answer_start: 7, answer_end: 10 }),
    ];
    const { root } = draw(<AnswerText text={text} citations={all} isGrowing={false} />);
    expect(root.textContent).toBe("So 1 2.");
    expect(root.querySelectorAll("button")).toHaveLength(2);
  });
});
