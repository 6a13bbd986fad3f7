import { expect, test } from "vitest";
import { scoredTree as scored } from "../../src/iql/scored-tree.js";
import type { ScoredNode } from "../../src/iql/scored-tree.js";
import type { IqlComparison, IqlTree } from "../../src/iql/types.js";

const A: IqlTree = { type: "statement", text: "A." };
const B: IqlTree = { type: "statement", text: "B." };
const DUTY: IqlTree = { type: "template", name: "clause obligating", arguments: ["Customer"], text: "imposes a duty" };

function scoredTree(
  tree: IqlTree,
  scores: number[],
  comparison: IqlComparison = "IQL_COMPARISON_CONTRACT",
): ScoredNode {
  return scored(tree, scores, comparison);
}

function outline(node: ScoredNode, depth = 0): string[] {
  const own = `${"  ".repeat(depth)}${node.symbol} ${node.words} ${node.score ?? "-"}`;
  return [own, ...node.children.flatMap((child) => outline(child, depth + 1))];
}

test("scores go to the nodes in pre-order", () => {
  const tree: IqlTree = {
    type: "and",
    operands: [{ type: "not", operand: { type: "comparison", operands: [A, B], comparators: [">"] } }, DUTY],
  };
  expect(outline(scoredTree(tree, [0.3, 0.3, 0.7, 0.9, 0.5, 0.8]))).toEqual([
    "∧ AND 0.3",
    "  ¬ NOT 0.3",
    "    > more than 0.7",
    "      { } A. 0.9",
    "      { } B. 0.5",
    "  IS clause obligating “Customer” 0.8",
  ]);
});

test("a node without a score has none, and the others keep theirs", () => {
  expect(outline(scoredTree({ type: "or", operands: [A, B] }, [0.9]))).toEqual([
    "∨ OR 0.9",
    "  { } A. -",
    "  { } B. -",
  ]);
});

test("a score of 0 is a score", () => {
  expect(scoredTree(A, [0]).score).toBe(0);
});

test("comparisons say how they are counted", () => {
  const less: IqlTree = { type: "comparison", operands: [A, B], comparators: ["<"] };
  expect(scoredTree(less, [])).toMatchObject({ symbol: "<", words: "less than", rule: "(second − first + 1) ÷ 2" });
  expect(scoredTree(less, [], "IQL_COMPARISON_VENDOR").rule).toBe("the second if it is the higher, else 0");
  expect(scoredTree(less, [], "IQL_COMPARISON_UNSPECIFIED").rule).toBe("less about the first than the second");
  const chain: IqlTree = { type: "comparison", operands: [A, B, A], comparators: [">", "<"] };
  expect(scoredTree(chain, [])).toMatchObject({ symbol: "> <", words: "comparison" });
});

test.each([
  [">", [0.7, 0.9, 0.5], "(first − second + 1) ÷ 2"],
  ["<", [0.3, 0.9, 0.5], "(second − first + 1) ÷ 2"],
  [">", [0.9, 0.9, 0.5], "the first if it is the higher, else 0"],
  ["<", [0, 0.9, 0.5], "the second if it is the higher, else 0"],
  // Both formulas give 0.6.
  [">", [0.6, 0.6, 0.4], "more about the first than the second"],
  [">", [0.123, 0.9, 0.5], "more about the first than the second"],
] as const)("a comparison by the service's own formula, %s with scores %o, is told by them", (sign, scores, rule) => {
  const tree: IqlTree = { type: "comparison", operands: [A, B], comparators: [sign] };
  expect(scoredTree(tree, [...scores], "IQL_COMPARISON_UNSPECIFIED").rule).toBe(rule);
});

test("operators say how their score comes about", () => {
  expect(scoredTree({ type: "and", operands: [A, B] }, []).rule).toBe("the lowest of the scores below");
  expect(scoredTree({ type: "average", operands: [A, B] }, [])).toMatchObject({ symbol: "+", words: "average" });
  expect(scoredTree(A, []).rule).toBe("");
});
