import { expect, test } from "vitest";
import { scoredTree as scored } from "../../src/iql/scored-tree.js";
import type { ScoredNode } from "../../src/iql/scored-tree.js";
import type { IqlComparison, IqlNode } from "../../src/iql/types.js";

type Kind = IqlNode["type"] extends `IQL_NODE_TYPE_${infer Name}` ? Name : never;

function node(kind: Kind, operands: IqlNode[], fields: Partial<IqlNode> = {}): IqlNode {
  return {
    type: `IQL_NODE_TYPE_${kind}`,
    operands,
    comparators: [],
    statement: "",
    template: "",
    arguments: [],
    ...fields,
  };
}

const A = node("STATEMENT", [], { statement: "A." });
const B = node("STATEMENT", [], { statement: "B." });
const DUTY = node("TEMPLATE", [], { template: "clause obligating", arguments: ["Customer"], statement: "a duty" });
const SIGNS = { ">": "IQL_COMPARATOR_GREATER", "<": "IQL_COMPARATOR_LESS" } as const;

function comparison(signs: readonly (keyof typeof SIGNS)[], ...operands: IqlNode[]): IqlNode {
  return node("COMPARISON", operands, { comparators: signs.map((sign) => SIGNS[sign]) });
}

function scoredTree(tree: IqlNode, formula: IqlComparison = "IQL_COMPARISON_CONTRACT"): ScoredNode {
  return scored(tree, formula);
}

function outline(node: ScoredNode, depth = 0): string[] {
  const own = `${"  ".repeat(depth)}${node.symbol} ${node.words} ${node.score ?? "-"}`;
  return [own, ...node.children.flatMap((child) => outline(child, depth + 1))];
}

test("every node has the score that the service gave it", () => {
  const compared = { ...comparison([">"], { ...A, score: 0.9 }, { ...B, score: 0.5 }), score: 0.7 };
  const tree = node("AND", [node("NOT", [compared], { score: 0.3 }), { ...DUTY, score: 0.8 }], { score: 0.3 });
  expect(outline(scoredTree(tree))).toEqual([
    "∧ AND 0.3",
    "  ¬ NOT 0.3",
    "    > more than 0.7",
    "      { } A. 0.9",
    "      { } B. 0.5",
    "  IS clause obligating “Customer” 0.8",
  ]);
});

test("comparisons say how they are counted", () => {
  const less = comparison(["<"], A, B);
  expect(scoredTree(less)).toMatchObject({ symbol: "<", words: "less than", rule: "(second − first + 1) ÷ 2" });
  expect(scoredTree(less, "IQL_COMPARISON_VENDOR").rule).toBe("the second if it is the higher, else 0");
  expect(scoredTree(less, "IQL_COMPARISON_UNSPECIFIED").rule).toBe("less about the first than the second");
  const chain = comparison([">", "<"], A, B, A);
  expect(scoredTree(chain)).toMatchObject({ symbol: "> <", words: "comparison" });
});

test.each([
  [">", [0.7, 0.9, 0.5], "(first − second + 1) ÷ 2"],
  ["<", [0.3, 0.9, 0.5], "(second − first + 1) ÷ 2"],
  [">", [0.9, 0.9, 0.5], "the first if it is the higher, else 0"],
  ["<", [0, 0.9, 0.5], "the second if it is the higher, else 0"],
  // Both formulas give 0.6.
  [">", [0.6, 0.6, 0.4], "more about the first than the second"],
  [">", [0.123, 0.9, 0.5], "more about the first than the second"],
] as const)(
  "a comparison by the service's own formula, %s with scores %o, is told by them",
  (sign, [score, first, second], rule) => {
    const tree = comparison([sign], { ...A, score: first }, { ...B, score: second });
    expect(scoredTree({ ...tree, score }, "IQL_COMPARISON_UNSPECIFIED").rule).toBe(rule);
  },
);

test("operators say how their score comes about", () => {
  expect(scoredTree(node("AND", [A, B])).rule).toBe("the lowest of the scores below");
  expect(scoredTree(node("AVERAGE", [A, B]))).toMatchObject({ symbol: "+", words: "average" });
  expect(scoredTree(A).rule).toBe("");
});
