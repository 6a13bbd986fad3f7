import { Disclosure, ErrorNote } from "../core/components/index.js";
import { counted } from "../core/format.js";
import { useNavigation } from "../core/navigation.js";
import { Explanation } from "./Explanation.js";
import { Match } from "./Match.js";
import { Score } from "./Score.js";
import { scoredTree } from "./scored-tree.js";
import type { IqlDocumentResult, IqlMatch } from "./types.js";
import type { RunRecord } from "./workbench-model.js";

/** What a query has found in a document. */
export function DocumentResult({ result, run }: { result: IqlDocumentResult; run: RunRecord }) {
  const navigation = useNavigation();
  const { document_id: documentId, filename, matches, error } = result;
  const name = filename || "A document that the matter does not have";
  const open = (match: IqlMatch): void => {
    navigation.openDocument({
      matterId: run.matterId,
      documentId,
      filename,
      start: match.start_index,
      end: match.end_index,
      quote: match.text,
      spans: matches.map(({ start_index: start, end_index: end }) => ({ start, end })),
    });
  };
  if (error) {
    return (
      <li class="result">
        <h3>{name}</h3>
        <ErrorNote error={`It was not analysed: ${error}`} />
      </li>
    );
  }
  return (
    <li class="result">
      <div class="result-head">
        <h3>{name}</h3>
        <span class="result-count">{countWords(result)}</span>
        <Score value={result.score} least={run.options.minScore} />
      </div>
      <BestPassage result={result} run={run} />
      <ol class="matches">
        {matches.map((match) => (
          <Match
            key={match.start_index}
            match={match}
            filename={name}
            run={run}
            onOpen={() => {
              open(match);
            }}
          />
        ))}
      </ol>
    </li>
  );
}

/** How the passage with the highest score came by it, where no match shows it. */
function BestPassage({ result, run: { tree, options } }: { result: IqlDocumentResult; run: RunRecord }) {
  const nodes = result.node_scores ?? [];
  if (tree === undefined || nodes.length === 0 || result.matches.length > 0) return null;
  return (
    <Disclosure summary="How its best passage scores">
      <Explanation node={scoredTree(tree, nodes, options.comparison)} />
    </Disclosure>
  );
}

function countWords({ match_count: count, matches, truncated }: IqlDocumentResult): string {
  if (count === 0) return "no match";
  const words = counted(count, "match", "matches");
  return truncated ? `${words}, the best ${matches.length} shown` : words;
}
