import type { IqlComparator, IqlComparison, IqlNode } from "./types.js";

/** A node of a query's tree with its score, as the explanation shows it. */
export interface ScoredNode {
  /** A sign for the operator, or "{ }" for a statement. */
  symbol: string;
  /** The operator's name, or the statement in words. */
  words: string;
  /** How its score comes from those below it; empty for a statement. */
  rule: string;
  /** 0 to 1; undefined where the service has sent no score for it. */
  score: number | undefined;
  children: readonly ScoredNode[];
}

type Description = Pick<ScoredNode, "symbol" | "words" | "rule">;

/** What a node's description rests on beside the node. */
type Scores = Pick<ScoredNode, "score" | "children"> & { comparison: IqlComparison };

/** The tree as it is shown. */
export function scoredTree(node: IqlNode, comparison: IqlComparison): ScoredNode {
  const { score } = node;
  const children = node.operands.map((operand) => scoredTree(operand, comparison));
  return { ...description(node, { comparison, score, children }), score, children };
}

function description(node: IqlNode, scores: Scores): Description {
  switch (node.type) {
    case "IQL_NODE_TYPE_STATEMENT":
      return { symbol: "{ }", words: node.statement, rule: "" };
    case "IQL_NODE_TYPE_TEMPLATE":
      return { symbol: "IS", words: callOf(node.template, node.arguments), rule: "" };
    case "IQL_NODE_TYPE_NOT":
      return { symbol: "¬", words: "NOT", rule: "1 minus the score below" };
    case "IQL_NODE_TYPE_AND":
      return { symbol: "∧", words: "AND", rule: "the lowest of the scores below" };
    case "IQL_NODE_TYPE_OR":
      return { symbol: "∨", words: "OR", rule: "the highest of the scores below" };
    case "IQL_NODE_TYPE_AVERAGE":
      return { symbol: "+", words: "average", rule: "the mean of the scores below" };
    case "IQL_NODE_TYPE_COMPARISON":
      return compared(node.comparators.map(signOf), scores);
  }
}

function signOf(comparator: IqlComparator): Comparator {
  return comparator === "IQL_COMPARATOR_LESS" ? "<" : ">";
}

function callOf(name: string, values: readonly string[]): string {
  return [name, ...values.map((value) => `“${value}”`)].join(" ");
}

function compared(comparators: readonly Comparator[], scores: Scores): Description {
  const symbol = comparators.join(" ");
  const [first = ">", ...others] = comparators;
  if (others.length > 0) return { symbol, words: "comparison", rule: "the lowest of its comparisons, left to right" };
  return { symbol, words: first === "<" ? "less than" : "more than", rule: RULES[formulaOf(first, scores)][first] };
}

type Comparator = ">" | "<";
type Formula = Exclude<IqlComparison, "IQL_COMPARISON_UNSPECIFIED">;

/** What the two formulas make of the score that should be the higher one, and the other. */
const FORMULAS: Record<Formula, (higher: number, lower: number) => number> = {
  IQL_COMPARISON_CONTRACT: (higher, lower) => (higher - lower + 1) / 2,
  IQL_COMPARISON_VENDOR: (higher, lower) => (higher > lower ? higher : 0),
};

/** Scores that differ by less are the same one, rounded. */
const ROUNDING = 1e-6;

/** The formula that was asked for; where the service's setting decides, the one that gives the score, if only one does. */
function formulaOf(comparator: Comparator, { comparison, score, children }: Scores): IqlComparison {
  if (comparison !== "IQL_COMPARISON_UNSPECIFIED") return comparison;
  const [first, second] = children.map((child) => child.score);
  if (score === undefined || first === undefined || second === undefined) return comparison;
  const operands: [number, number] = comparator === ">" ? [first, second] : [second, first];
  const gives = (formula: Formula): boolean => Math.abs(FORMULAS[formula](...operands) - score) < ROUNDING;
  const contract = gives("IQL_COMPARISON_CONTRACT");
  if (contract === gives("IQL_COMPARISON_VENDOR")) return comparison;
  return contract ? "IQL_COMPARISON_CONTRACT" : "IQL_COMPARISON_VENDOR";
}

/** How a comparison is counted, in words where the formula is not known. */
const RULES: Record<IqlComparison, Record<Comparator, string>> = {
  IQL_COMPARISON_UNSPECIFIED: {
    ">": "more about the first than the second",
    "<": "less about the first than the second",
  },
  IQL_COMPARISON_CONTRACT: { ">": "(first − second + 1) ÷ 2", "<": "(second − first + 1) ÷ 2" },
  IQL_COMPARISON_VENDOR: {
    ">": "the first if it is the higher, else 0",
    "<": "the second if it is the higher, else 0",
  },
};
