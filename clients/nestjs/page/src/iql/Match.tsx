import { Button, Disclosure } from "../core/components/index.js";
import { formatCount } from "../core/format.js";
import { Explanation } from "./Explanation.js";
import { Passage } from "./Passage.js";
import { Score } from "./Score.js";
import { scoredTree } from "./scored-tree.js";
import type { IqlMatch } from "./types.js";
import type { RunRecord } from "./workbench-model.js";

interface MatchProps {
  match: IqlMatch;
  filename: string;
  run: RunRecord;
  onOpen: () => void;
}

/** A passage that matches: where it is, its score, its words, and how the score came about. */
export function Match({ match, filename, run: { options }, onOpen }: MatchProps) {
  const place = placeOf(match);
  return (
    <li class="match">
      <div class="match-head">
        <span class="match-place">{place}</span>
        <Score value={match.score} least={options.minScore} likelihood={match.likelihood} />
        <Button small aria-label={`Open in the text of ${filename}: ${place}`} onClick={onOpen}>
          Open in the text
        </Button>
      </div>
      <Passage text={match.text} start={match.start_index} />
      {match.explanation && (
        <Disclosure summary="How this score comes about">
          <Explanation node={scoredTree(match.explanation, options.comparison)} />
        </Disclosure>
      )}
    </li>
  );
}

/** As "Page 3 · 9. Governing Law". */
function placeOf({ citation, start_index: start }: IqlMatch): string {
  const page = citation !== undefined && citation.page > 0 ? `Page ${citation.page}` : "";
  const parts = [page, citation?.section_path.at(-1) ?? ""].filter((part) => part !== "");
  return parts.length > 0 ? parts.join(" · ") : `At character ${formatCount(start)}`;
}
