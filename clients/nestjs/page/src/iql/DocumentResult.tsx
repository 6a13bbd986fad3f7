import { useSignal } from "@preact/signals";
import { ApiError } from "../core/api.js";
import { Button, Disclosure, ErrorNote } from "../core/components/index.js";
import { counted } from "../core/format.js";
import { useNavigation } from "../core/navigation.js";
import { Explanation } from "./Explanation.js";
import { Match } from "./Match.js";
import { Score } from "./Score.js";
import type { PlacedResult } from "./run-state.js";
import { scoredTree } from "./scored-tree.js";
import type { IqlDocumentResult, IqlMatch } from "./types.js";
import type { RunRecord } from "./workbench-model.js";

interface DocumentResultProps {
  result: PlacedResult;
  run: RunRecord;
  onMore: (result: PlacedResult) => Promise<void>;
}

/** What a query has found in a document. */
export function DocumentResult({ result, run, onMore }: DocumentResultProps) {
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
        <Score value={result.score} least={run.options.minScore} likelihood={result.likelihood} />
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
      {result.next_page_token !== "" && run.state !== "cancelled" && <More result={result} onMore={onMore} />}
    </li>
  );
}

/** Asks for the next matches of a document. */
function More({ result, onMore }: Pick<DocumentResultProps, "result" | "onMore">) {
  const loading = useSignal(false);
  const failure = useSignal<ApiError | undefined>(undefined);
  const load = async (): Promise<void> => {
    loading.value = true;
    failure.value = undefined;
    try {
      await onMore(result);
    } catch (error) {
      failure.value = ApiError.from(error);
    }
    loading.value = false;
  };
  return (
    <div>
      {failure.value && <ErrorNote error={failure.value} />}
      <Button small disabled={loading.value} onClick={() => void load()}>
        Show more matches
      </Button>
    </div>
  );
}

/** How the passage with the highest score came by it, where no match shows it. */
function BestPassage({ result, run }: { result: IqlDocumentResult; run: RunRecord }) {
  if (result.explanation === undefined || result.matches.length > 0) return null;
  return (
    <Disclosure summary="How its best passage scores">
      <Explanation node={scoredTree(result.explanation, run.options.comparison)} />
    </Disclosure>
  );
}

function countWords({ match_count: count, matches, truncated }: IqlDocumentResult): string {
  if (count === 0) return "no match";
  const words = counted(count, "match", "matches");
  return truncated ? `${words}, the best ${matches.length} shown` : words;
}
