import { Score } from "./Score.js";
import type { ScoredNode } from "./scored-tree.js";

/** The tree of a query with the score of each node: how a score came about. */
export function Explanation({ node }: { node: ScoredNode }) {
  return (
    <ul class="tree">
      <Node node={node} />
    </ul>
  );
}

function Node({ node: { symbol, words, rule, score, children } }: { node: ScoredNode }) {
  return (
    <li>
      <div class={children.length > 0 ? "tree-node tree-operator" : "tree-node"}>
        <span class="tree-symbol" aria-hidden="true">
          {symbol}
        </span>
        <span class="tree-words">
          {words} {rule !== "" && <span class="tree-rule">{rule}</span>}
        </span>
        {score !== undefined && <Score value={score} />}
      </div>
      {children.length > 0 && (
        <ul>
          {children.map((child, i) => (
            <Node key={i} node={child} />
          ))}
        </ul>
      )}
    </li>
  );
}
