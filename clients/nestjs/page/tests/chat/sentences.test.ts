import { describe, expect, it } from "vitest";
import { completeSentences } from "../../src/chat/sentences.js";

const TEXT = "The notice is 30 days. “It ends then.” [1] Either party may stop it!\n- One point\n- Another";

describe("sentences that are read out", () => {
  it("are complete ones, and all of them at the end", () => {
    expect(completeSentences(TEXT, false).at(-1)).toBe("- One point");
    expect(completeSentences(TEXT, true)).toEqual([
      "The notice is 30 days.",
      "“It ends then.” [1]",
      "Either party may stop it!",
      "- One point",
      "- Another",
    ]);
  });

  it("never change once they are complete", () => {
    const all = completeSentences(TEXT, true);
    for (let length = 0; length <= TEXT.length; length += 1) {
      const some = completeSentences(TEXT.slice(0, length), false);
      expect(all.slice(0, some.length)).toEqual(some);
    }
  });
});
